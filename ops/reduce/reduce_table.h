// The reductions, one row per operator; C++ and GLSL include this file and define what a row becomes.
//
// REDUCE(id, Name, numericClass)   operator "Reduce" + Name; ids select the function in shaders/reduce/reduce.comp
REDUCE(0, Sum, Sum)
REDUCE(1, Mean, Sum)
REDUCE(2, Max, Exact)
REDUCE(3, Min, Exact)
REDUCE(4, Prod, Sum)
REDUCE(5, L1, Sum)
REDUCE(6, L2, Sum)
REDUCE(7, SumSquare, Sum)
REDUCE(8, LogSum, Sum)
REDUCE(9, LogSumExp, Sum)
#undef REDUCE
