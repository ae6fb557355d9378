(function_definition name: (word) @name) @definition.function
(program (variable_assignment name: (variable_name) @name) @definition.constant)

(program (_) @item)
(compound_statement (_) @item)
(if_statement (_) @item)
(else_clause (_) @item)
(elif_clause (_) @item)
(do_group (_) @item)
(case_statement (case_item) @item)
(case_item (_) @item)
(subshell (_) @item)

(comment) @prelude
