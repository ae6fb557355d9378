(method name: (_) @name) @definition.function
(singleton_method name: (_) @name) @definition.method
(class name: [(constant) @name (scope_resolution name: (constant) @name)]) @definition.class
(module name: [(constant) @name (scope_resolution name: (constant) @name)]) @definition.module
(assignment left: (constant) @name) @definition.constant

(program (_) @item)
(body_statement (_) @item)
(block_body (_) @item)
(then (_) @item)
(else (_) @item)
(do (_) @item)
(case (when) @item)

(comment) @prelude
