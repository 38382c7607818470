"""Secure aggregation: the server learns the sum of a round's updates and no single update.

Nobody outside the project has audited this code or its adaptation of the protocol. Test vectors for
other implementations are in docs/secure-sum-vectors.json, described in docs/flower.md.

The protocol with two masks of Bonawitz et al. 2017, "Practical Secure Aggregation for
Privacy-Preserving Machine Learning", in its form against an honest but curious server. A node
adds two kinds of masks to its encoded update: one per other node, which the other subtracts, and
one of its own. Secrets behind the masks lie in shares with all nodes, so that those who stay can
remove what those who drop out leave behind. A round has four steps on the node (``participant``)
with the server's part in between (``collector``):

1. ``advertise``: two fresh public keys of each node; the server sends all of them to all.
2. ``share``: shares of the node's secrets, encrypted for each other node; the server ``relay``s.
3. ``mask``: the masked vector; the server waits for as many as will come.
4. ``unmask``: shares that free the sum of those who came; the server ``reveal``s it.

What it protects from: a server that follows the protocol and looks at all it gets, alone or with
fewer nodes than the threshold; these can subtract their own parts from the sum, and no more. The
point counts n_k are inside the sum, too.

What it does not protect from:

- A server that relays false public keys. The nodes have no list of each other's true keys, so it
  could stand between any two of them, or bring nodes of its own.
- The sum itself. It is the update of one user with everybody's points, and the attacks work on it;
  ``attacks.secure_sum`` measures what they find. Two sums of the same updates that differ by one
  node show that node's, so an update must go into one round only.
- A node that sends a wrong update: nobody can see it, so nobody can refuse it.

What stays visible: who took part and when, who dropped out at which step, the sum, and n_t.

Every number that hides something comes from the operating system or from the libraries'
generators, never from ``veilmap.streams``: a mask that can be repeated hides nothing.

Rebuilding secrets costs the server time with the cube of the number of nodes. It is made for about
a hundred of them in a round.
"""
