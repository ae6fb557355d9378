(command name: (command_name (word) @call) (#match? @call "^[A-Za-z_][\\w:.-]*$"))
(command
  name: (command_name (word) @_trap)
  . argument: (word) @handed
  (#eq? @_trap "trap"))
