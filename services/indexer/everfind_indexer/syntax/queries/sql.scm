(create_table (object_reference name: (identifier) @name)) @definition.table
(create_view (object_reference name: (identifier) @name)) @definition.view
(create_materialized_view (object_reference name: (identifier) @name)) @definition.view
(create_index column: (identifier) @name) @definition.index
(create_type (object_reference name: (identifier) @name)) @definition.type
(create_schema (identifier) @name) @definition.module
(create_function . (keyword_create) (object_reference name: (identifier) @name) (_)) @definition.function
(create_procedure (object_reference name: (identifier) @name)) @definition.function
(create_trigger . (_) . (_) . (object_reference name: (identifier) @name)) @definition.trigger

(program (_) @item)
(statement (_) @item)
(block (statement) @item)
(column_definitions (_) @item)
(cte) @item

[(comment) (marginalia)] @prelude
