"""Build time only (needs ``onnx``): how ``data/skeleton.onnx`` and ``data/recipes.json`` are made.

``python -m everfind_embedder.graph`` writes both again, byte for byte the same. Nothing at run time imports this
package.
"""
