"""The file of an artifact: a safetensors container, the manifest in it, and checks of sections.

    write:  Artifact -> sections.encode (header, checksums) -> write.write_atomically
    read:   file -> sections.decode -> manifest.Manifest, arrays by name -> requirements

``signature`` distinguishes artifacts from grammars by their first bytes, without numpy. Nothing
that is read is trusted: every check raises ``ArtifactError`` naming the field or the section.
"""
