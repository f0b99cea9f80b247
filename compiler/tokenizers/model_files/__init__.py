"""Tokenizers that models' own files hold: SentencePiece's ``.model``, and GGUF.

protobuf         the fields of a message
sentencepiece    a ``ModelProto`` -> ``Pieces``
gguf             the key-values of a GGUF file, no tensor of which is read
gguf_tokenizer   those of its tokenizer -> ``Pieces``, or a ``tokenizer.json``'s content
pieces           ``Pieces``, what SentencePiece knows of a model -> ``Tokenizer``
foreign          what a file seems to be that is none of these
"""
