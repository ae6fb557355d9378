(invocation (object_reference name: (identifier) @call))

(relation (object_reference name: (identifier) @reference))
(insert (object_reference name: (identifier) @reference))
(from (object_reference name: (identifier) @reference))
(column_definition (object_reference name: (identifier) @reference))
(create_index (object_reference name: (identifier) @reference))
(create_trigger (object_reference name: (identifier) @reference) .)
