"""A file in each language that has a grammar."""

from __future__ import annotations


def filled(template: str, statement: str) -> str:
    """``template`` with eight of ``statement`` in place of each ``...`` line."""
    out: list[str] = []
    for line in template.strip("\n").split("\n"):
        indent = line[: len(line) - len(line.lstrip())]
        out += [indent + statement.format(n) for n in range(8)] if line.strip() == "..." else [line]
    return "\n".join(out)


PYTHON = '''
"""Module text.

class NotOne:
    in a string
"""
@cache
@retry(
    times=3,
)
def first(a):
    ...

# why
class Box(Base):
    size = 1

    @property
    def open(self):
        ...

TABLE = {
    "a": 1,
    "b": 2,
}
'''

JAVASCRIPT = """
/** First. */
export default function first(a) {
  ...
}

export const second = async (a) => {
  ...
};

class Box extends Base {
  @observed
  open(a) {
    ...
  }

  shut = () => {
    ...
  };
}

Box.prototype.hide = function (a) {
  ...
};

module.exports = {
  member(a) {
    ...
  },
};
"""

TYPESCRIPT = """
export interface Shape<T> {
  area: number;
  name: string;
  kind: T;
}

export abstract class Box<T> implements Shape<T> {
  private async open(a: T): Promise<void> {
    ...
  }
}

export enum Color {
  Red,
  Green,
}

namespace Inner {
  export function deep(): void {
    ...
  }
}
"""

TSX = """
export function Page(props: Props) {
  ...
  return (
    <main>
      <Title text="hello" />
    </main>
  );
}
"""

GO = """
package main

// Server serves.
type Server struct {
	Name string
	Port int
}

type Handler interface {
	Serve(a int) error
}

// Run runs.
func (s *Server) Run(a int) error {
	...
}

func Map[T any](a []T) []T {
	...
}
"""

RUST = """
/// A point.
#[derive(Debug)]
pub struct Point<T> {
    x: T,
}

impl<T: Display> Point<T> {
    /// Makes one.
    pub fn new(x: T) -> Self {
        ...
    }
}

pub trait Draw {
    fn draw(&self) {
        ...
    }
}

macro_rules! twice {
    ($x:expr) => {
        $x + $x
    };
}
"""

JAVA = """
package p;

@Service
public class Box<T> extends Base {
    /** Opens. */
    @Override
    public <R> List<R> open(int a) throws E {
        ...
    }

    enum Color {
        RED,
        GREEN
    }

    interface Lid {
        int lift(int a);
    }
}
"""

KOTLIN = """
package p

data class Box(val a: Int) : Base() {
    override suspend fun open(a: Int): Int {
        ...
    }

    companion object {
        fun make(): Box {
            ...
        }
    }
}

interface Lid {
    fun lift()
}

fun String.wide(a: Int): Int {
    ...
}
"""

C = """
struct point {
  int x;
  int y;
  double weight_of_it;
  struct point *next_in_list;
};

/* First
   does. */
static struct point *
first(int a,
      int b)
{
  ...
}

#define MAX(a, b) \\
  ((a) > (b) ? (a) : (b))
"""

CPP = """
namespace geo {
template <typename T>
class Box : public Base<T> {
public:
  int open(int a) const override {
    ...
  }
};

int Box<int>::shut(int a) {
  ...
}
}  // namespace geo
"""

CSHARP = """
namespace A.B
{
    /// <summary>Box.</summary>
    [Serializable]
    public class Box<T> : Base where T : class
    {
        public async Task<int> Open(int a)
        {
            ...
        }
    }

    public struct Point
    {
        public int X;
    }
}
"""

RUBY = """
module Geo
  # A box.
  class Box < Base
    def open(a)
      ...
    end

    def self.make(a)
      ...
    end
  end
end
"""

PHP = """
<?php
namespace A;

/** A box. */
#[Attr]
abstract class Box extends Base
{
    public function open(int $a): int
    {
        ...
    }
}

trait Lid
{
    function lift() { return 1; }
}

function first($a)
{
    ...
}
"""

SWIFT = """
/// A box.
public class Box<T>: Base {
    init(a: Int) {
        ...
    }

    @discardableResult
    func open(_ a: Int) throws -> Int {
        ...
    }
}

struct Point {
    var x: Int
}

extension Box: Lid {
    func lift() {
        ...
    }
}

protocol Lid {
    func lift()
}
"""

SCALA = """
package p

/** A box. */
case class Box[T](a: Int) extends Base {
  def open(a: Int): Int = {
    ...
  }
}

object Box {
  def make(a: Int): Box = {
    ...
  }
}

trait Lid {
  def lift(): Unit
}
"""

BASH = """
#!/bin/bash
# First does.
function first() {
  ...
}

second() {
  ...
}
"""

LUA = """
local M = {}

-- First does.
function M.first(a)
  ...
end

M.second = function(a)
  ...
end

local function third(a)
  ...
end
"""

SQL = """
-- The users.
CREATE TABLE IF NOT EXISTS app.users (
  id INT PRIMARY KEY,
  name TEXT
);

CREATE VIEW grown AS
SELECT * FROM users WHERE age > 18;

CREATE FUNCTION twice(a int) RETURNS int AS $$
BEGIN
  RETURN a + a;
END;
$$ LANGUAGE plpgsql;
"""

CALL, ASSIGN, SEMICOLON = "use(value_{0}, other)", "value_{0} = use(other, third)", "use(value_{0}, other);"

FILES = {
    "python": (PYTHON, ASSIGN),
    "javascript": (JAVASCRIPT, SEMICOLON),
    "typescript": (TYPESCRIPT, SEMICOLON),
    "tsx": (TSX, SEMICOLON),
    "go": (GO, CALL),
    "rust": (RUST, SEMICOLON),
    "java": (JAVA, SEMICOLON),
    "kotlin": (KOTLIN, CALL),
    "c": (C, SEMICOLON),
    "cpp": (CPP, SEMICOLON),
    "csharp": (CSHARP, SEMICOLON),
    "ruby": (RUBY, CALL),
    "php": (PHP, "use($value_{0}, $other);"),
    "swift": (SWIFT, CALL),
    "scala": (SCALA, CALL),
    "bash": (BASH, 'use "$value_{0}" other third'),
    "lua": (LUA, CALL),
    "sql": (SQL, ""),
}
