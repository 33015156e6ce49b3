#include "io/curl_status.h"

status curl_status(CURLcode code)
{
    switch (code) {
    case CURLE_OK:
        return ST_OK;
    case CURLE_OPERATION_TIMEDOUT:
        return ST_TIMEOUT;
    case CURLE_ABORTED_BY_CALLBACK:
        return ST_CANCELLED;
    case CURLE_COULDNT_RESOLVE_HOST:
        return ST_DNS;
    case CURLE_COULDNT_RESOLVE_PROXY:
    case CURLE_COULDNT_CONNECT:
    case CURLE_PROXY:
    case CURLE_SEND_ERROR:
    case CURLE_RECV_ERROR:
    case CURLE_GOT_NOTHING:
    case CURLE_NO_CONNECTION_AVAILABLE:
        return ST_CONNECT;
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_CIPHER:
    case CURLE_SSL_ENGINE_NOTFOUND:
    case CURLE_SSL_ENGINE_SETFAILED:
    case CURLE_SSL_ENGINE_INITFAILED:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_CRL_BADFILE:
    case CURLE_SSL_ISSUER_ERROR:
    case CURLE_SSL_SHUTDOWN_FAILED:
    case CURLE_SSL_PINNEDPUBKEYNOTMATCH:
    case CURLE_SSL_INVALIDCERTSTATUS:
    case CURLE_SSL_CLIENTCERT:
        return ST_TLS;
    case CURLE_URL_MALFORMAT:
        return ST_INVALID;
    default:
        return ST_PROTOCOL; /* weird reply, bad chunk, short body, HTTP/0.9, HTTP/2 framing, bad encoding */
    }
}
