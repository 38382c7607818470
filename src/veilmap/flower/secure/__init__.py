"""Secure aggregation: the server learns the sum of a round's updates and no single update.

This code and its adaptation of the protocol have had no outside audit. Test vectors for other
implementations are in docs/secure-sum-vectors.json, described in docs/flower.md.

The protocol with two masks of Bonawitz et al. 2017, "Practical Secure Aggregation for
Privacy-Preserving Machine Learning", in its form against an honest but curious server. A node
adds two kinds of masks to its encoded update: one per other node, which the other subtracts, and
one of its own. The secrets behind the masks are shared among all nodes, so that the survivors can
remove the masks of nodes that drop out. A round has four steps on the node (``participant``) with
the server's part in between (``collector``):

1. ``advertise``: two fresh public keys of each node; the server sends all of them to all.
2. ``share``: shares of the node's secrets, encrypted for each other node; the server ``relay``s.
3. ``mask``: the masked vector; the server waits for as many as will come.
4. ``unmask``: shares that unmask the survivors' sum; the server ``reveal``s it.

What it protects from: a server that follows the protocol and reads all it receives, alone or with
fewer nodes than the threshold; these can subtract their own parts from the sum, and no more. The
point counts n_k are inside the sum, too.

What it does not protect from:

- A server that relays false public keys. The nodes have no list of each other's true keys, so it
  could place itself between any two of them, or add its own nodes.
- The sum itself. It is the update of one user with all points, and the attacks work on it;
  ``attacks.secure_sum`` measures what they find. Two sums of the same updates that differ by one
  node show that node's, so an update must go into one round only.
- A node that sends a wrong update: the server cannot see it and so cannot refuse it.

What stays visible: which nodes took part and when, which dropped out at which step, the sum, and
n_t.

Every number that hides something comes from the operating system or from the libraries'
generators, never from ``veilmap.streams``: a mask that can be repeated hides nothing.

The server's time to rebuild secrets grows with the cube of the number of nodes; about a hundred in
a round are practical.
"""
