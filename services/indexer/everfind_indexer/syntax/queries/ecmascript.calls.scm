(call_expression function: (identifier) @call)
(call_expression
  function: (member_expression
    object: (_) @receiver
    property: [(property_identifier) (private_property_identifier)] @call))
(new_expression constructor: (identifier) @call)
(new_expression constructor: (member_expression object: (_) @receiver property: (property_identifier) @call))

(decorator (identifier) @reference)
(arguments (identifier) @handed)
(pair value: (identifier) @handed)
(object (shorthand_property_identifier) @handed)

(import_statement) @import
(variable_declarator
  name: [(identifier) (object_pattern)]
  value: (call_expression function: (identifier) @_require) (#eq? @_require "require")) @import

(variable_declarator name: (identifier) @bound value: (new_expression constructor: (_) @type))
(assignment_expression
  left: (member_expression property: [(property_identifier) (private_property_identifier)] @field)
  right: (new_expression constructor: (_) @type))
