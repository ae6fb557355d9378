"""The server side: services and their calls as gRPC handlers, who may make them, and a process around them."""
