"""The file: sections behind a safetensors header, a manifest, checksums."""
