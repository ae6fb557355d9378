(method_invocation !object name: (identifier) @call)
(method_invocation object: (_) @receiver name: (identifier) @call)
(object_creation_expression type: [
  (type_identifier) @call
  (generic_type (type_identifier) @call)
  (scoped_type_identifier (type_identifier) @call .)
])

(method_reference . (_) @receiver (identifier) @reference .)
(marker_annotation name: (identifier) @reference)
(annotation name: (identifier) @reference)
(type_identifier) @reference

(import_declaration) @import

(formal_parameter type: (_) @type name: (identifier) @bound)
(local_variable_declaration type: (_) @type declarator: (variable_declarator name: (identifier) @bound))
(local_variable_declaration
  declarator: (variable_declarator name: (identifier) @bound value: (object_creation_expression type: (_) @type)))
(field_declaration type: (_) @type declarator: (variable_declarator name: (identifier) @field))
(enhanced_for_statement type: (_) @type name: (identifier) @bound)
(resource type: (_) @type name: (identifier) @bound)
