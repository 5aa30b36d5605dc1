"""The networks: encoder, decoder, the three policies, their siblings, the model folder.

Knows not how they are taught or decoded.
"""
