"""Compiling for programs: one call for what Python has, or processes that serve many who ask.

one_call     compile(Person, tokenizer, whitespace="compact"): the artifact, options by name
python_grammars the text that a type or an object stands for, and its dialect
requests     a request's fields -> the text of a grammar and its options; flags: what hosts say
fields       values of fields, and the error of what they must not be
vllm, sglang their backends, and vLLM's logits processor; engines: what they have in common
service      ``CompileService``: an artifact as a future
folder       artifacts in a folder, its limit; open_artifacts: those that are open; metrics
transformers a processor of a type, a schema or tools, in one call
workers      compiling processes, one job at a time each; a crash fails its job alone
worker       the program that such a process runs
jobs         a job and its answer as lines of JSON
artifact_key the key of an artifact, by all that it depends on, without compiling it
"""
