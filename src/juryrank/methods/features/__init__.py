"""Methods that use features of the items beside the lists."""
