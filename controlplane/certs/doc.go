// Package certs makes the keys and certificates of one small cluster, the ones
// kubeadm makes, with ECDSA keys (made in a millisecond, where RSA takes a
// second).
//
// Two authorities, and the reason there are two:
//
//   - ca signs the API server's certificate and every client's. Whoever holds a
//     certificate of it is who its subject says: CN the user, O the groups.
//     O=system:masters is the cluster's administrator.
//   - front-proxy-ca signs the certificate by which the API server shows an
//     aggregated API server that it speaks for an authenticated user. With one
//     authority for both, any user's certificate could claim that.
//
// kubeadm has a third, for etcd, which here listens on no port at all.
//
// Beside them, sa.key signs ServiceAccount tokens and sa.pub checks them.
package certs
