"""The paper, table by table and figure by figure, with a verdict on every claim."""
