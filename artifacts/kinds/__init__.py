"""The kinds of artifact: for each what its sections must hold, and the machine made of them.

    manifest -> table.kind_of -> a module of this room, which is loaded only then
    check(manifest, arrays)   raises where sections do not fit together
    runtime(contents)         -> Runtime.machine() -> what a matcher steps

``table`` has the protocols; ``contents`` what all machines are made of; ``regular`` and
``parser`` what several kinds share. The modules of machines load with the first machine.
"""
