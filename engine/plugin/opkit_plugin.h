/* opkit_plugin.h: operators, kernels, graph passes and backends from a shared library, in plain C.
 *
 * A plugin exports one function, opkit_plugin_get, which returns its opkit_plugin. OpKit checks the ABI version
 * and calls `load` once with the host's functions; `load` announces all operators, kernels, passes and backends. OpKit
 * checks the announcements as a whole and registers all of them or none. docs/plugins.md walks through an example;
 * docs/examples/ holds two that are built and checked with OpKit.
 *
 * Rules of the ABI
 *   - Every struct begins with struct_size and abi_version: write OPKIT_STRUCT(type). New fields are added only at the
 *     end of a struct; fields that an older plugin lacks read as zero. In an array of structs the struct_size of the
 *     first is the stride.
 *   - Zero and NULL mean "none" or "the default" in fields marked optional.
 *   - Everything the plugin passes to `add_...` is copied, except functions and `user`.
 *   - Everything the host passes to a callback is valid only during that callback.
 *   - No exception may leave a callback. (If one does, it is caught and reported as the plugin's failure.)
 *   - Callbacks of different sessions may run on different threads at once; callbacks of one kernel state do not.
 */
#ifndef OPKIT_PLUGIN_H_
#define OPKIT_PLUGIN_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define OPKIT_ABI_VERSION 1u
/* First two initialisers of every struct: opkit_port port = {OPKIT_STRUCT(opkit_port), "x", ...}; */
#define OPKIT_STRUCT(type) (uint32_t)sizeof(type), OPKIT_ABI_VERSION

#if defined(_WIN32)
#define OPKIT_PLUGIN_EXPORT __declspec(dllexport)
#else
#define OPKIT_PLUGIN_EXPORT __attribute__((visibility("default")))
#endif

/* The result of a callback. Give the reason with opkit_host::fail, which returns the code it is given. */
typedef int32_t opkit_code;
enum {
  OPKIT_OK = 0,
  OPKIT_INVALID_ARGUMENT = 1, /* shapes, attributes or values outside the operator's contract */
  OPKIT_UNSUPPORTED = 2,      /* well-formed, but this kernel or device cannot run it: the next kernel is tried */
  OPKIT_OUT_OF_MEMORY = 3,
  OPKIT_DEVICE_LOST = 4,
  OPKIT_INTERNAL = 6
};

/* Element types. Sets of them are masks: OPKIT_BIT(OPKIT_F32) | OPKIT_BIT(OPKIT_F16). */
enum {
  OPKIT_F32 = 1,
  OPKIT_F16 = 2,
  OPKIT_F64 = 3,
  OPKIT_I8 = 4,
  OPKIT_U8 = 5,
  OPKIT_I16 = 6,
  OPKIT_U16 = 7,
  OPKIT_I32 = 8,
  OPKIT_U32 = 9,
  OPKIT_I64 = 10,
  OPKIT_U64 = 11,
  OPKIT_BOOL = 12 /* one byte, 0 or 1 */
};
#define OPKIT_BIT(dtype) (1u << (dtype))
#define OPKIT_ANY_DTYPE 0x1FFEu
#define OPKIT_MAX_RANK 16

/* Opaque. */
typedef struct opkit_registrar opkit_registrar; /* collects the announcements of `load` */
typedef struct opkit_call opkit_call;           /* one node, in a callback */
typedef struct opkit_encoder opkit_encoder;     /* records Vulkan commands of one node */
typedef struct opkit_graph opkit_graph;         /* the model, in a pass */

/* A tensor. Elements are row-major and contiguous. */
typedef struct opkit_tensor {
  uint32_t struct_size, abi_version;
  int32_t dtype;
  int32_t rank;
  const int64_t* shape; /* `rank` extents, outermost first */
  int64_t elements;     /* their product */
  void* data;           /* the elements, if the host can access them now; else NULL */
  void* memory;         /* of a plugin's backend: the result of its `allocate` */
  uint64_t offset;      /* first byte in `memory` */
} opkit_tensor;

/* A tensor in an oracle: floating types widened to double, integers and bool to int64. Inputs are already rounded
 * to their dtype. Outputs start as zero and are rounded once, afterwards. */
typedef struct opkit_wide_tensor {
  uint32_t struct_size, abi_version;
  int32_t dtype;
  int32_t rank;
  const int64_t* shape;
  int64_t elements;
  double* real;     /* the elements of a floating type, else NULL */
  int64_t* integer; /* the elements of any other, else NULL */
} opkit_wide_tensor;

/* ---- Operators ------------------------------------------------------------------------------------------- */

enum { OPKIT_REQUIRED = 0, OPKIT_OPTIONAL = 1, OPKIT_VARIADIC = 2 }; /* the latter two at the end only */

typedef struct opkit_port {
  uint32_t struct_size, abi_version;
  const char* name;
  uint32_t dtypes;  /* mask; 0 is any */
  int32_t kind;     /* OPKIT_REQUIRED, ... */
  int32_t contents; /* 1: the shape rule reads the values: `data` is set in `infer` */
} opkit_port;

enum { OPKIT_INT = 1, OPKIT_FLOAT = 2, OPKIT_STRING = 3, OPKIT_INTS = 4, OPKIT_FLOATS = 5 };

/* An attribute: read from ONNX nodes, from the JSON of case files, from .opk files. */
typedef struct opkit_attribute {
  uint32_t struct_size, abi_version;
  const char* name; /* a C identifier */
  int32_t type;     /* OPKIT_INT, ... */
  int64_t int_default;
  float float_default;
  const char* string_default; /* optional */
} opkit_attribute;

/* The error bound that the harness accepts (harness/compare/tolerance.h). */
enum {
  OPKIT_EXACT = 0,
  OPKIT_ONE_ROUNDING = 1,
  OPKIT_FEW_ROUNDINGS = 2,
  OPKIT_PRODUCTS = 3,
  OPKIT_SUM = 4,
  OPKIT_SOFTMAX = 5,
  OPKIT_NORM = 6,
  OPKIT_TRANSCENDENTAL = 7,
  OPKIT_CAST = 8
};

/* A kernel: for the CPU, or for every operator that a plugin's backend runs. */
typedef struct opkit_kernel {
  uint32_t struct_size, abi_version;
  const char* provider; /* optional: the plugin's name */
  /* Optional: OPKIT_OK, or OPKIT_UNSUPPORTED with a reason, for the dtypes and shapes of the call. */
  opkit_code (*supports)(opkit_call* call, void* user);
  /* Optional: makes the state of one node. */
  opkit_code (*create)(opkit_call* call, void* user, void** state);
  /* Optional: shapes are known and memory is in place; in `execute` inputs may have moved. */
  opkit_code (*resize)(opkit_call* call, void* user, void* state);
  /* Computes the outputs. Allocates nothing. */
  opkit_code (*execute)(opkit_call* call, void* user, void* state);
  void (*destroy)(void* user, void* state); /* required with `create` */
} opkit_kernel;

/* A Vulkan kernel: GLSL as in OpKit's own shaders/, compiled when the plugin is loaded. Lines such as
 * "//! variant STORAGE: f32 f16" make variants; #include "common.glsl" and "storage.glsl" work. */
typedef struct opkit_glsl_kernel {
  uint32_t struct_size, abi_version;
  const char* provider; /* optional: the plugin's name */
  const char* name;     /* of the shader, in messages: "scaled_tanh.comp" */
  const char* source;
  opkit_code (*supports)(opkit_call* call, void* user); /* optional, as above */
  /* Records the dispatches for the shapes of the call, with opkit_host::dispatch. */
  opkit_code (*encode)(opkit_call* call, opkit_encoder* encoder, void* user);
  /* Optional, and needed where shapes or attributes decide how long loops are: passes that the loops of one invocation
   * make for the shapes of the call. A loop of n iterations makes n + 1; loops behind each other add up. Some devices
   * end longer loops and say nothing; on those the node goes to another kernel. */
  int64_t (*loop_passes)(opkit_call* call, void* user);
} opkit_glsl_kernel;

/* One tensor of a dispatch, by the name of the array in the shader's buffer block. */
typedef struct opkit_binding {
  uint32_t struct_size, abi_version;
  const char* name;
  const opkit_tensor* tensor; /* as opkit_host::input and output gave it */
} opkit_binding;

/* A push constant or specialisation constant by name; converted to the type the shader declares. */
typedef struct opkit_constant {
  uint32_t struct_size, abi_version;
  const char* name;
  double value;
} opkit_constant;

/* Checked against the shader: every binding and every push constant must be given; unknown names are refused. */
typedef struct opkit_dispatch {
  uint32_t struct_size, abi_version;
  const char* variant; /* "STORAGE=f16"; NULL when the shader has no variants */
  const opkit_binding* bindings;
  size_t binding_count;
  const opkit_constant* push_constants;
  size_t push_constant_count;
  const opkit_constant* specialization; /* omitted constants keep the shader's value */
  size_t specialization_count;
  uint32_t groups[3];
} opkit_dispatch;

typedef struct opkit_operator {
  uint32_t struct_size, abi_version;
  const char* type;    /* "com.acme::ScaledTanh": the ONNX domain and type */
  const char* summary; /* one sentence */
  const opkit_port* inputs;
  size_t input_count;
  const opkit_port* outputs;
  size_t output_count;
  const opkit_attribute* attributes; /* optional */
  size_t attribute_count;
  int32_t numeric;  /* OPKIT_EXACT, ... */
  double low, high; /* optional: interval of the harness's normal inputs; [-4, 4] if both are 0 */
  /* Calls opkit_host::set_output for every output, or fails. */
  opkit_code (*infer)(opkit_call* call, void* user);
  double (*flops)(opkit_call* call, void* user); /* optional: one per output element */
  /* Optional: the definition, in double. Without it the operator runs but cannot be checked. */
  opkit_code (*oracle)(opkit_call* call, void* user);
  const opkit_kernel* cpu;         /* optional: the oracle runs when there is none */
  const opkit_glsl_kernel* vulkan; /* optional */
  void* user;                      /* handed to the callbacks */
  double error_floor; /* OPKIT_TRANSCENDENTAL: absolute error besides 4 ULP, if the function oscillates or cancels */
} opkit_operator;

/* ---- Kernels of operators that exist --------------------------------------------------------------------- */

/* One more kernel of an operator of OpKit, of this plugin or of another one, tried before those that are there. Its key
 * is (backend, provider, dtypes, operator, name), which must be free. Selection, --prefer, --forbid, --force, the
 * cross-check and the benchmarks treat the provider like OpKit's own. */
typedef struct opkit_operator_kernel {
  uint32_t struct_size, abi_version;
  const char* type;        /* of the operator: "Softmax", "com.acme::ScaledTanh" */
  const char* backend;     /* "cpu" or "vulkan" */
  const char* provider;    /* optional: that of `cpu` or `vulkan`, else the plugin's name; OpKit's own are refused */
  uint32_t dtypes;         /* mask, not 0: of the first input that is not bool, without inputs of the first output */
  const char* name;        /* optional: tells several kernels of one provider for the same dtypes apart */
  const opkit_kernel* cpu; /* with backend "cpu", else NULL */
  const opkit_glsl_kernel* vulkan; /* with backend "vulkan", else NULL */
  void* user;                      /* handed to the callbacks */
} opkit_operator_kernel;

/* ---- Backends -------------------------------------------------------------------------------------------- */

/* A device. Refused nodes run on the CPU, with copies in between. `device` is the result of `open`. */
typedef struct opkit_backend {
  uint32_t struct_size, abi_version;
  const char* name; /* of --backend */
  const char* summary;
  const char* device_name; /* as `op-harness devices` lists it */
  opkit_code (*open)(opkit_call* call, void* user, void** device);
  void (*close)(void* user, void* device);
  opkit_code (*allocate)(void* user, void* device, uint64_t bytes, void** memory);
  void (*release)(void* user, void* device, void* memory);
  opkit_code (*upload)(void* user, void* device, const void* from, void* memory, uint64_t offset, uint64_t bytes);
  opkit_code (*download)(void* user, void* device, const void* memory, uint64_t offset, void* to, uint64_t bytes);
  uint64_t alignment; /* of offsets; 0 is 64 */
  /* Runs any operator that its `supports` accepts; opkit_host::type and attributes identify it. */
  const opkit_kernel* kernel;
  void* user;
} opkit_backend;

/* ---- Graph passes ---------------------------------------------------------------------------------------- */

/* Runs when a model is loaded for execution, after OpKit's own passes of that position. */
enum { OPKIT_BEFORE_LOWERING = 0 };

typedef struct opkit_pass {
  uint32_t struct_size, abi_version;
  const char* name; /* "acme.fold_double_negation" */
  const char* summary;
  int32_t position; /* OPKIT_BEFORE_LOWERING */
  /* Changes the graph with opkit_host::graph_...; adds the number of rewrites to *changes. */
  opkit_code (*run)(opkit_graph* graph, void* user, size_t* changes);
  void* user;
} opkit_pass;

/* ---- Functions of the host ------------------------------------------------------------------------------- */

typedef struct opkit_host {
  uint32_t struct_size, abi_version;
  const char* version; /* of OpKit */

  /* In `load`. The host remembers failures and refuses the plugin even if it ignores them. */
  opkit_code (*add_operator)(opkit_registrar* registrar, const opkit_operator* op);
  opkit_code (*add_backend)(opkit_registrar* registrar, const opkit_backend* backend);
  opkit_code (*add_pass)(opkit_registrar* registrar, const opkit_pass* pass);

  /* In callbacks with a call. */
  opkit_code (*fail)(opkit_call* call, opkit_code code, const char* message);
  const char* (*type)(const opkit_call* call);
  size_t (*input_count)(const opkit_call* call);
  size_t (*output_count)(const opkit_call* call);
  const opkit_tensor* (*input)(const opkit_call* call, size_t index);  /* NULL where absent */
  const opkit_tensor* (*output)(const opkit_call* call, size_t index); /* NULL where not requested */
  /* Attributes, or their defaults. An unknown name, or an optional attribute that is absent, gives 0, NULL or no
   * elements. Those of OpKit's own operators have the names of ops/<op>/<op>.fbs: integers and bool by attribute_int,
   * floats by attribute_float, enumerations by attribute_string, lists by attribute_ints and attribute_floats. */
  int64_t (*attribute_int)(const opkit_call* call, const char* name);
  float (*attribute_float)(const opkit_call* call, const char* name);
  const char* (*attribute_string)(const opkit_call* call, const char* name);
  const int64_t* (*attribute_ints)(const opkit_call* call, const char* name, size_t* count);
  const float* (*attribute_floats)(const opkit_call* call, const char* name, size_t* count);
  /* Attributes of any operator, including OpKit's own, as JSON: {"axis": 1}. */
  const char* (*attributes_json)(const opkit_call* call);

  /* In `infer`. */
  opkit_code (*set_output)(opkit_call* call, size_t index, int32_t dtype, int32_t rank, const int64_t* shape);
  /* In `oracle`. */
  const opkit_wide_tensor* (*wide_input)(const opkit_call* call, size_t index);
  const opkit_wide_tensor* (*wide_output)(const opkit_call* call, size_t index);
  /* For operators that sum: array for sum |terms| per output element; `terms` is their number. NULL if not needed. */
  double* (*wide_magnitude)(opkit_call* call, size_t output, int64_t terms);
  /* In `encode`. */
  opkit_code (*dispatch)(opkit_encoder* encoder, const opkit_dispatch* dispatch);
  /* Work groups for `items` invocations in groups of `local_size`, for linearIndex() of common.glsl. */
  void (*linear_groups)(int64_t items, uint32_t local_size, uint32_t groups[3]);

  /* In `run` of a pass. Nodes are numbered in execution order; graph_input and graph_output give tensor numbers. */
  size_t (*graph_nodes)(const opkit_graph* graph);
  const char* (*graph_type)(const opkit_graph* graph, size_t node); /* "" for a removed node */
  size_t (*graph_input_count)(const opkit_graph* graph, size_t node);
  size_t (*graph_output_count)(const opkit_graph* graph, size_t node);
  int32_t (*graph_input)(const opkit_graph* graph, size_t node, size_t index); /* tensor, -1 where absent */
  int32_t (*graph_output)(const opkit_graph* graph, size_t node, size_t index);
  int32_t (*graph_producer)(const opkit_graph* graph, int32_t tensor); /* node, -1 for inputs and constants */
  size_t (*graph_uses)(const opkit_graph* graph, int32_t tensor);      /* by nodes; a model output counts as one */
  const char* (*graph_attributes_json)(const opkit_graph* graph, size_t node);
  int32_t (*graph_is_output)(const opkit_graph* graph, int32_t tensor); /* 1 for an output of the model */
  /* Every reader of `from` reads `to` instead. Refused when `from` is an output of the model. */
  opkit_code (*graph_replace)(opkit_graph* graph, int32_t from, int32_t to);
  /* Refused while an output is used. */
  opkit_code (*graph_remove)(opkit_graph* graph, size_t node);
  /* Replaces the operator; inputs and outputs stay. `attributes` is JSON. */
  opkit_code (*graph_retype)(opkit_graph* graph, size_t node, const char* type, const char* attributes);

  /* In `load`, like add_operator. The first hosts of ABI version 1 lack it: ask OPKIT_HOST_HAS(host, add_kernel). */
  opkit_code (*add_kernel)(opkit_registrar* registrar, const opkit_operator_kernel* kernel);
} opkit_host;

/* 1 if the host that calls `load` has the function; 0 if it is older than this header. */
#define OPKIT_HOST_HAS(host, function) \
  ((host)->struct_size >= offsetof(opkit_host, function) + sizeof((host)->function))

typedef struct opkit_plugin {
  uint32_t struct_size, abi_version;
  const char* name; /* "acme": the provider of its kernels, and its name for unloading */
  const char* version;
  opkit_code (*load)(const opkit_host* host, opkit_registrar* registrar);
  void (*unload)(void); /* optional: before the library is closed */
} opkit_plugin;

/* The only symbol that a plugin exports. */
typedef const opkit_plugin* (*opkit_plugin_get_fn)(void);
OPKIT_PLUGIN_EXPORT const opkit_plugin* opkit_plugin_get(void);

#ifdef __cplusplus
}
#endif

#endif /* OPKIT_PLUGIN_H_ */
