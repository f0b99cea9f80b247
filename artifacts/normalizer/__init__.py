"""Texts in normal form while decoding: what a tokenizer's normalizer would change is masked out.

    sections stable.*  ->  normal_form_dfa.NormalFormDfa  ->  what tokens do at its states
    any machine  ->  machine.WithNormalForm  ->  the same machine, with both in its states

``compiler/normalizer`` builds the DFA. The inner machine is that of ``canonical_network``; after a
prompt the DFA begins where the prompt ends.
"""
