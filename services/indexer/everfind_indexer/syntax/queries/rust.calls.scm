(call_expression function: (identifier) @call)
(call_expression function: (field_expression value: (_) @receiver field: (field_identifier) @call))
(call_expression function: (scoped_identifier path: (_) @receiver name: (identifier) @call))
(generic_function function: (identifier) @call)
(generic_function function: (field_expression value: (_) @receiver field: (field_identifier) @call))
(generic_function function: (scoped_identifier path: (_) @receiver name: (identifier) @call))
(macro_invocation macro: (identifier) @call)
(macro_invocation macro: (scoped_identifier path: (_) @receiver name: (identifier) @call))
(token_tree (identifier) @call . (token_tree . "("))

(type_identifier) @reference
(arguments (identifier) @handed)

(use_declaration) @import

(parameter pattern: (identifier) @bound type: (_) @type)
(let_declaration pattern: (identifier) @bound type: (_) @type)
(let_declaration pattern: (identifier) @bound value: (call_expression function: (scoped_identifier path: (_) @type)))
(let_declaration pattern: (identifier) @bound value: (struct_expression name: (_) @type))
(field_declaration name: (field_identifier) @field type: (_) @type)
