# ONNX ML, TreeEnsemble: where a feature is NaN, nodes_missing_value_tracks_true decides: 0 is the false branch.
import math

whenTrue, whenFalse, tracksTrue = 10, 20, 0
y = [whenTrue if (tracksTrue if math.isnan(x) else x != 1) else whenFalse for x in (1, 2, math.nan)]
print("expected [3,1]", *y)
