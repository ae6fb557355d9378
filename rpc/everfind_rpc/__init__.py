"""The only place that knows gRPC and protobuf: converters between messages and the core model, and the error table."""
