package server

import (
	"fmt"
	store "example.com/app/pkg/kv/v2"
	"example.com/app/auth"
)

type Server struct {
	db   *store.DB
	auth auth.Checker
}

type Handler interface{ Serve(r Request) error }

func New(db *store.DB) *Server {
	return &Server{db: db}
}

func (s *Server) Serve(r Request) error {
	if err := s.auth.Check(r); err != nil {
		return fmt.Errorf("no: %w", err)
	}
	c := &Counter{}
	c.Add(1)
	s.db.Put(key(r))
	go s.flush()
	return store.Sync(s.db, key)
}

func key(r Request) string { return r.Path() }
