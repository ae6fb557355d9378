(call_expression function: (identifier) @call)
(call_expression function: (field_expression argument: (_) @receiver field: (field_identifier) @call))

(type_identifier) @reference
(argument_list (identifier) @handed)
(initializer_list (identifier) @handed)
(initializer_pair value: (identifier) @handed)
(assignment_expression right: (identifier) @handed)
