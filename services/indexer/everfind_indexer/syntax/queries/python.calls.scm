(call function: (identifier) @call)
(call function: (attribute object: (_) @receiver attribute: (identifier) @call))

(decorator (identifier) @reference)
(decorator (attribute object: (_) @receiver attribute: (identifier) @reference))
(class_definition superclasses: (argument_list (identifier) @reference))
(class_definition
  superclasses: (argument_list (attribute object: (_) @receiver attribute: (identifier) @reference)))
(type (identifier) @reference)
(type (attribute object: (_) @receiver attribute: (identifier) @reference))
(type (generic_type (identifier) @reference))
(except_clause (identifier) @reference)
(argument_list (identifier) @handed)
(keyword_argument value: (identifier) @handed)

[(import_statement) (import_from_statement)] @import

(typed_parameter (identifier) @bound type: (type) @type)
(typed_default_parameter name: (identifier) @bound type: (type) @type)
(assignment left: (identifier) @bound type: (type) @type)
(assignment left: (identifier) @bound right: (call function: (_) @type))
(assignment left: (attribute attribute: (identifier) @field) right: (call function: (_) @type))
(as_pattern (call function: (_) @type) alias: (as_pattern_target (identifier) @bound))
