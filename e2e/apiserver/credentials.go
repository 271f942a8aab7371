package main

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"

	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
)

// masters is the group with all RBAC rights.
const masters = "system:masters"

// pair is a certificate and its key, as files.
type pair struct{ certificate, key string }

// authority signs certificates.
type authority struct {
	pair
	certificate *x509.Certificate
	key         crypto.Signer
}

func newAuthority(dir string) (*authority, error) {
	template := &x509.Certificate{
		SerialNumber:          big.NewInt(1),
		Subject:               pkix.Name{CommonName: "e2e"},
		IsCA:                  true,
		BasicConstraintsValid: true,
		KeyUsage:              x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	ca := &authority{}
	var err error
	ca.pair, ca.certificate, ca.key, err = sign(dir, "ca", template, nil)
	return ca, err
}

// forServer makes the certificate of the API server.
func (ca *authority) forServer(dir string) (pair, error) {
	template := &x509.Certificate{
		SerialNumber: big.NewInt(2),
		Subject:      pkix.Name{CommonName: "kube-apiserver"},
		IPAddresses:  []net.IP{net.IPv4(127, 0, 0, 1)},
		DNSNames:     []string{"localhost"},
		KeyUsage:     x509.KeyUsageDigitalSignature,
		ExtKeyUsage:  []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	made, _, _, err := sign(dir, "server", template, ca)
	return made, err
}

// forUser makes the certificate of a user.
func (ca *authority) forUser(dir, name, group string) (pair, error) {
	template := &x509.Certificate{
		SerialNumber: big.NewInt(3),
		Subject:      pkix.Name{CommonName: name, Organization: []string{group}},
		KeyUsage:     x509.KeyUsageDigitalSignature,
		ExtKeyUsage:  []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}
	made, _, _, err := sign(dir, name, template, ca)
	return made, err
}

// sign makes a key and a certificate for it, signed by the authority or, without one, by itself.
func sign(dir, name string, template *x509.Certificate, by *authority) (pair, *x509.Certificate, crypto.Signer, error) {
	files := pair{filepath.Join(dir, name+".crt"), filepath.Join(dir, name+".key")}
	refused := func(err error) (pair, *x509.Certificate, crypto.Signer, error) {
		return pair{}, nil, nil, fmt.Errorf("certificate %s: %w", name, err)
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return refused(err)
	}
	template.NotBefore = time.Now().Add(-time.Hour)
	template.NotAfter = time.Now().Add(24 * time.Hour)
	parent, signer := template, crypto.Signer(key)
	if by != nil {
		parent, signer = by.certificate, by.key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), signer)
	if err != nil {
		return refused(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return refused(err)
	}
	if err := writePEM(files.certificate, "CERTIFICATE", der); err != nil {
		return refused(err)
	}
	if err := writePEM(files.key, "PRIVATE KEY", secret); err != nil {
		return refused(err)
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		return refused(err)
	}
	return files, certificate, key, nil
}

func writePEM(file, kind string, der []byte) error {
	return os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600)
}

// credentials are the files that control access to the server.
type credentials struct {
	ca, server, user pair
	tokens           map[string]string
	tokenFile        string
}

// newCredentials makes an authority, the server's certificate, and the users: `admin` has a token
// and all rights, `certificate` a certificate and all rights, `nobody` a token and no rights.
func newCredentials(dir string) (*credentials, error) {
	ca, err := newAuthority(dir)
	if err != nil {
		return nil, err
	}
	made := &credentials{ca: ca.pair, tokens: map[string]string{}, tokenFile: filepath.Join(dir, "tokens.csv")}
	if made.server, err = ca.forServer(dir); err != nil {
		return nil, err
	}
	if made.user, err = ca.forUser(dir, "certificate", masters); err != nil {
		return nil, err
	}
	made.tokens["admin"], made.tokens["nobody"] = rand.Text(), rand.Text()
	users := fmt.Sprintf("%s,admin,1,%s\n%s,nobody,2\n", made.tokens["admin"], masters, made.tokens["nobody"])
	return made, os.WriteFile(made.tokenFile, []byte(users), 0o600)
}

// kubeconfig has a context for each user, and `uncompressed` for an admin without gzip.
func (c *credentials) kubeconfig(url string) *api.Config {
	config := api.NewConfig()
	config.Clusters["e2e"] = &api.Cluster{Server: url, CertificateAuthority: c.ca.certificate}
	config.Clusters["uncompressed"] = &api.Cluster{
		Server: url, CertificateAuthority: c.ca.certificate, DisableCompression: true,
	}
	config.AuthInfos["certificate"] = &api.AuthInfo{ClientCertificate: c.user.certificate, ClientKey: c.user.key}
	for name, token := range c.tokens {
		config.AuthInfos[name] = &api.AuthInfo{Token: token}
	}
	for name := range config.AuthInfos {
		config.Contexts[name] = &api.Context{Cluster: "e2e", AuthInfo: name}
	}
	config.Contexts["uncompressed"] = &api.Context{Cluster: "uncompressed", AuthInfo: "admin"}
	config.CurrentContext = "admin"
	return config
}

func (c *credentials) writeKubeconfig(file, url string) error {
	return clientcmd.WriteToFile(*c.kubeconfig(url), file)
}
