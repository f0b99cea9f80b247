"""Many grammars and tokenizers, compiled ahead into a store.

batch        ``compile_many``: what is not in the store yet, by any ``Executor``
job          ``compile_job``: one grammar and one tokenizer, in whatever process
processes    the executor that is used without another: processes of this machine
dask         that of a cluster
"""
