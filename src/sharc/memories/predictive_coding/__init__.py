"""What BayesPCN and PCN share: a two-layer network, its searches, and their fast products."""
