"""What gestures.py is made of."""
