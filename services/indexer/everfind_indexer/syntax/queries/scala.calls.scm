(call_expression function: [
  (identifier) @call
  (generic_function function: (identifier) @call)
])
(call_expression function: [
  (field_expression value: (_) @receiver field: (identifier) @call)
  (generic_function function: (field_expression value: (_) @receiver field: (identifier) @call))
])
(infix_expression left: (_) @receiver operator: (identifier) @call)
(instance_expression . [
  (type_identifier) @call
  (generic_type type: (type_identifier) @call)
  (stable_type_identifier (type_identifier) @call .)
])

(type_identifier) @reference
(arguments (identifier) @handed)

(import_declaration) @import

(parameter name: (identifier) @bound type: (_) @type)
(class_parameter name: (identifier) @field type: (_) @type)
(val_definition pattern: (identifier) @field type: (_) @type)
(val_definition pattern: (identifier) @field value: (instance_expression . (_) @type))
(var_definition pattern: (identifier) @field type: (_) @type)
(var_definition pattern: (identifier) @field value: (instance_expression . (_) @type))
