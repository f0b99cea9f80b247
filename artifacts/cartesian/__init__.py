"""CartesianMerge at run time: masks from the product of a grammar and a pre-tokenizer DFA.

    sections product.*, pairs.*, cuts.*  ->  machine.ProductMachine  ->  states and masks

``compiler/cartesian`` builds the product of the grammar's byte DFA with the pre-tokenizer DFA and
the tokens of each product state. Here sets of product states are met as a text is read, and the
tokens that may follow the last one are ANDed in. Where a normalizer comes first, the machine runs
beside a normal-form DFA (``artifacts/normalizer/machine.py``), and beside the tokens of whole
pre-tokens where there are any (``beside_pieces``).
"""
