//! A client asks its link to rest ([`RestRequest`]) and waits for its answer. It decides nothing.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

use tokio::net::UdpSocket;
use wirelab_schema::{REST_BYTES, REST_PORT, RestAnswer, RestRequest};

use crate::StackError;

/// How long the link must be silent: by then what ends an exchange has been said, with its acknowledgements and most retransmissions.
const SETTLE: Duration = Duration::from_secs(2);
/// Longer than a link takes to refuse, a minute.
const ANSWER_WAIT: Duration = Duration::from_secs(70);

/// Has the link between here and the server rest until `gap_ns` have passed on its clock.
pub async fn rest(server: IpAddr, gap_ns: u64) -> Result<(), StackError> {
    ask(SocketAddr::new(server, REST_PORT), RestRequest { gap_ns, settle_ns: SETTLE.as_nanos() as u64 }).await
}

async fn ask(link: SocketAddr, request: RestRequest) -> Result<(), StackError> {
    let failed = |why: &str| Err(StackError::Failed(format!("the link does not rest: {why}")));
    match tokio::time::timeout(ANSWER_WAIT, answer(link, request)).await {
        Ok(Ok(RestAnswer::Done)) => Ok(()),
        Ok(Ok(RestAnswer::Refused)) => failed("it was not silent for 2 s within a minute; is there other traffic?"),
        Ok(Err(error)) => failed(&error.to_string()),
        Err(_) => failed("it did not answer in 70 s"),
    }
}

async fn answer(link: SocketAddr, request: RestRequest) -> io::Result<RestAnswer> {
    let any = if link.is_ipv4() { IpAddr::V4(Ipv4Addr::UNSPECIFIED) } else { IpAddr::V6(Ipv6Addr::UNSPECIFIED) };
    let socket = UdpSocket::bind((any, 0)).await?;
    socket.connect(link).await?;
    socket.send(&request.to_bytes()).await?;
    let mut answer = [0; REST_BYTES + 1];
    loop {
        let length = socket.recv(&mut answer).await?;
        if let Some(found) = RestAnswer::from_bytes(&answer[..length], request) {
            return Ok(found);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const REQUEST: RestRequest = RestRequest { gap_ns: 600_000_000_000, settle_ns: 2_000_000_000 };

    /// Asks a link that answers with this last byte, after a datagram that is not an answer.
    async fn answered(last: u8) -> Result<(), StackError> {
        let link = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).await.expect("a socket");
        let address = link.local_addr().expect("it is bound");
        let answers = async {
            let mut asked = [0; 100];
            let (length, client) = link.recv_from(&mut asked).await.expect("a request");
            assert_eq!(RestRequest::from_bytes(&asked[..length]), Some(REQUEST));
            link.send_to(b"something else", client).await.expect("sent");
            link.send_to(&[&asked[..length], &[last]].concat(), client).await.expect("sent");
        };
        tokio::join!(ask(address, REQUEST), answers).0
    }

    #[tokio::test]
    async fn a_link_that_has_rested_says_so() {
        assert!(answered(0).await.is_ok());
    }

    #[tokio::test]
    async fn a_link_that_was_not_silent_fails_the_client() {
        let error = answered(1).await.expect_err("refused");
        assert_eq!(
            error.to_string(),
            "the link does not rest: it was not silent for 2 s within a minute; is there other traffic?"
        );
    }

    #[tokio::test]
    async fn where_no_rest_was_agreed_the_server_refuses_the_datagram() {
        let closed = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).await.expect("a socket");
        let address = closed.local_addr().expect("it is bound");
        drop(closed);
        let error = ask(address, REQUEST).await.expect_err("nobody is there");
        assert!(error.to_string().starts_with("the link does not rest: Connection refused"), "{error}");
    }
}
