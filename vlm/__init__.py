"""The local vision-language model."""
