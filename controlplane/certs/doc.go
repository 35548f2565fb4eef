// Package certs makes the keys and certificates of one small cluster, the ones
// kubeadm makes, with ECDSA keys (made in a millisecond, where RSA takes a
// second).
//
// Three authorities, and the reason there are three:
//
//   - ca signs the API server's certificate and every client's. Whoever holds a
//     certificate of it is who its subject says: CN the user, O the groups.
//     O=system:masters is the cluster's administrator.
//   - etcd-ca signs for etcd alone. With one authority for both, any client
//     certificate of the cluster, one signed through the cluster's own
//     CertificateSigningRequests too, would open etcd, and so every Secret.
//   - front-proxy-ca signs the certificate by which the API server shows an
//     aggregated API server that it speaks for an authenticated user.
//
// Beside them, sa.key signs ServiceAccount tokens and sa.pub checks them.
package certs
