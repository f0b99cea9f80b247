# The types with which rows.py, threads.py and kernel.py are compiled as one module.
cimport cython

cdef int ENDS, CALLS, INSIDE, YIELDS, STOPS, LAND, UNKNOWN, LARGE, ALIAS, SEVERAL, UNSEEN, NO_EXITS, ENDLESS, BELOW, ELSEWHERE
cdef unsigned long long ONE, ALL_CLASSES, BULK, OUTSIDE, LETTERS, BROKEN
cdef int LOW, MID, ALL, HIGH, ROOM, FREE, LEFT, NOTED, SET, MOST_NOTED, UNREAD, NOTHING, MANY_SETS, MANY_BITS
cdef int OF_SET, CHILD, STOP, EXITS, COUNT, TOP, USED, UNIONS, BITS, WAITING
cdef int FIRST, LAST, BEGIN, OWN, END, FIELDS


cdef class StateRows:
    cdef object states
    cdef bint is_step, is_for_other
    cdef const unsigned long long[::1] class_bits
    cdef int known, made, calls
    cdef int[::1] row_at
    cdef unsigned char[::1] kind
    cdef unsigned long long[::1] leaving
    cdef unsigned long long[::1] unread
    cdef unsigned long long[::1] reads
    cdef int[::1] room
    cdef int[::1] twin
    cdef int[::1] call_at
    cdef int[::1] call_end
    cdef int[::1] rows
    cdef int[::1] starts
    cdef int[::1] frames

    @cython.final
    @cython.locals(named=int, size=int, state=int)
    cdef name_states(self)
    @cython.final
    @cython.locals(at=int, others=int, looping=int, octet=int, target=int, reads="unsigned long long", leaving="unsigned long long", unread="unsigned long long", loops="unsigned long long")
    cdef int make(self, int state) except -1
    @cython.final
    @cython.locals(row=int, target=int, octet=int, is_more=bint, found="unsigned long long")
    cdef int cover(self, int state) except -1
    @cython.final
    @cython.locals(base=int, at=int, before=int, target=int, octet=int)
    cdef int follow(self, int state, row) except -1
    @cython.final
    cdef int make_calls(self, int state) except -1
    @cython.final
    @cython.locals(found=int)
    cdef int without_bounds(self, int state) except -1


cdef class Threads(StateRows):
    cdef object stacks
    cdef list entries
    cdef int most
    cdef int[::1] t_state
    cdef int[::1] t_node
    cdef int[::1] t_all
    cdef int top
    cdef int[::1] p_frame
    cdef int[::1] p_below
    cdef int[::1] p_start
    cdef int[::1] p_popped
    cdef int used
    cdef int[::1] q_first
    cdef int[::1] q_words
    cdef int unions
    cdef unsigned long long[::1] bits
    cdef int bits_used
    cdef dict aliases
    cdef int closures, closed
    cdef set popped
    cdef int last_popped, last_frame, last_below
    cdef bint is_left

    @cython.final
    cdef begin(self)
    @cython.locals(low=int, high=int, i=int, octet=int, target=int, at=int, state=int, node=int)
    cpdef step(self, threads, const unsigned char[::1] text)
    @cython.final
    cdef kept(self, int low)
    @cython.final
    cdef parts(self, int node)
    @cython.final
    @cython.locals(i=int)
    cdef inline int add(self, int low, int state, int node) except -1
    @cython.final
    cdef inline int append(self, int state, int node) except -1
    @cython.final
    cdef int check(self, int used) except -1
    @cython.final
    @cython.locals(since=int, i=int, state=int, node=int, kind=int, call=int, start=int)
    cdef int close(self, int low, int high) except -1
    @cython.final
    @cython.locals(known=int, have=int, more=int, i=int)
    cdef int meet(self, int low, int state, int node) except -1
    @cython.final
    @cython.locals(place=int)
    cdef int pop(self, int low, int node) except -1
    @cython.final
    @cython.locals(frame=int, below=int)
    cdef int pop_kept(self, int low, int node) except -1
    @cython.final
    @cython.locals(first=int, word=int, left="unsigned long long", place=int, frame=int, below=int, united=dict)
    cdef int pop_set(self, int low, int number) except -1
    @cython.final
    @cython.locals(is_before=bint, place=int, other=int)
    cdef int push(self, int since, int start, int frame, int below) except? -1
    @cython.final
    @cython.locals(place=int, first=int, member=int, is_in=bint)
    cdef int highest(self, int node) noexcept
    @cython.final
    cdef int new_node(self, int frame, int below) except? -1
    @cython.final
    @cython.locals(place=int)
    cdef int member(self, int node) except -1
    @cython.final
    @cython.locals(place=int)
    cdef int alias(self, int node) except? -1
    @cython.final
    @cython.locals(place=int, other_place=int, found=int, first=int)
    cdef int united(self, int node, int other) except? -1
    @cython.final
    @cython.locals(words=int, first=int, i=int)
    cdef int new_union(self) except? -1
    @cython.final
    @cython.locals(inner=int, i=int)
    cdef int put(self, int first, int node, int place) noexcept
    @cython.final
    @cython.locals(place=int, found=int, first=int, inner=int, i=int)
    cdef int without(self, int node, int other) except? -1
    @cython.final
    @cython.locals(first=int, words=int, place=int, inner=int, i=int, have="unsigned long long")
    cdef int includes(self, int node, int other) except -1


cdef class Kernel(Threads):
    cdef object layout
    cdef const unsigned char[::1] octets
    cdef const int[::1] nodes
    cdef const unsigned long long[::1] classes
    cdef const int[::1] ids
    cdef const int[::1] lengths
    cdef int[::1] sets
    cdef int[::1] behind
    cdef int count
    cdef dict numbers
    cdef int[::1] waiting
    cdef int depth
    cdef list exits
    cdef public int visited
    cdef unsigned int[::1] words
    cdef bint is_summary
    cdef public list left
    cdef public dict inside
    cdef public dict waits
    cdef dict places
    cdef bint is_landing, is_meeting
    cdef long long walks
    cdef int landed, stopped
    cdef int[::1] lands
    cdef int[::1] stops
    cdef long long[::1] met

    cpdef lay_out(self, layout)
    cpdef mask(self, int state, int node, unsigned int[::1] words)
    @cython.locals(place=int)
    cpdef int summary(self, const int[::1] nodes, int state, int node, unsigned int[::1] words) except -1
    @cython.locals(number=int)
    cpdef int lexemes(self, const int[::1] nodes, int state, int place, unsigned int[::1] words) except -1
    @cython.locals(place=int)
    cpdef landings(self, const int[::1] nodes, int state)
    @cython.final
    @cython.locals(state=int, at=int)
    cdef int land(self, int number, int begin, int end) except -1
    @cython.final
    @cython.locals(state=int, at=int)
    cdef int stop(self, int node, int number) except -1
    @cython.final
    @cython.locals(state=int, key="long long")
    cdef bint meets(self, int node, int number) noexcept
    @cython.final
    cdef begin_walk(self, unsigned int[::1] words)
    @cython.final
    @cython.locals(left=int, i=int)
    cdef int leave(self, int node, int number) except -1
    @cython.final
    @cython.locals(low=int)
    cdef list nodes_of(self, int state, int node)
    @cython.final
    @cython.locals(at=int, number=int, child=int, stop=int, low=int, high=int, is_exit=bint, is_open=bint, i=int, node=int, octet=int, found=int, begin=int, exits="const int[::1]")
    cdef int walk(self) except -1
    @cython.final
    @cython.locals(found=list)
    cdef wait(self, int number, int node)
    @cython.final
    @cython.locals(at=int)
    cdef int come_back(self, int node, int number, int exits) except -1
    @cython.final
    @cython.locals(is_much=bint, i=int, number=int)
    cdef int drop(self, int at) noexcept
    @cython.final
    @cython.locals(below="unsigned long long", low=int, high=int, is_large=bint, splits=bint, i=int, state=int, leaving="unsigned long long", end=int)
    cdef int enter(self, int node, int number) except -1
    @cython.final
    @cython.locals(low=int, leaving="unsigned long long", others="unsigned long long", i=int)
    cdef int exits_of(self, int node, int number) except -2
    @cython.final
    @cython.locals(thread=int, state=int, octet=int, read=int, most=int, inner=int, classes="unsigned long long", leaving="unsigned long long")
    cdef bint enter_counting(self, int node, int number) except -1
    @cython.final
    @cython.locals(base=int, child=int, inner=int, octet=int, words="unsigned int[::1]", pending=list, found=list)
    cdef find_exits(self, int node, unsigned long long leaving)
    @cython.final
    cdef int alone(self, int state, int node) except -1
    @cython.final
    @cython.locals(is_one=bint, found=int, at=int, i=int)
    cdef int number(self, int low) except -1
    @cython.final
    @cython.locals(at=int, low=int, i=int, state=int, found=int)
    cdef int free(self, int number) except -1
    @cython.final
    @cython.locals(at=int, low=int, i=int)
    cdef int complete(self, int number) except -1
    @cython.final
    @cython.locals(at=int, low=int, high=int, noted=int, place=int, other=int, i=int, row=int, first=int, target=int, found=int, state=int)
    cdef int read(self, int number, int octet) except? -1
    @cython.final
    @cython.locals(at=int, thread=int, state=int, place=int, found=int)
    cdef int begun(self, int number) except? -1
    @cython.final
    @cython.locals(i=int)
    cdef inline int reads_all(self, int low, int high, unsigned long long classes) noexcept
    @cython.final
    @cython.locals(i=int, token=int)
    cdef inline int take(self, int begin, int end) noexcept
    @cython.final
    @cython.locals(i=int)
    cdef inline int unite(self, const unsigned int[::1] row) noexcept


cdef bint is_union(int node) noexcept
cdef int place_of(int node) noexcept
