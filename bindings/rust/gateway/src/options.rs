// SPDX-License-Identifier: Apache-2.0

//! What the program is asked to do.

use crate::form::{Form, Wrong};
use crate::front::Server;

/// One line for each role.
pub const USAGE: &str = "\
usage: gateway --role gateway --prefill URL --decode URL [--prefill-form FORM] [--decode-form FORM] [--listen HOST:PORT]
       gateway --role engine [--form FORM] [--listen HOST:PORT]
";

/// What `--help` tells besides.
pub const DETAILS: &str = "
A gateway in front of a prefill and a decode server: POST /generate, /v1/completions, /prime, GET /stats. An engine is a stand-in for such a server.

  --role ROLE           gateway (where it is left out) or engine
  --listen HOST:PORT    where to listen, 127.0.0.1:0 where it is left out; port 0 takes a free one. The address is printed.
  --prefill URL         the prefill server, http://HOST:PORT
  --decode URL          the decode server
  --prefill-form FORM   the prefill server's form: sglang (where it is left out), vllm or prime
  --decode-form FORM    the decode server's form
  --form FORM           the form that an engine answers in

Limits of a request: 1 MiB; 32768 tokens of prompt, each 0 .. 2147483647; 4096 tokens of output (max_tokens is 16 and max_new_tokens 128 where they are
left out); 16 choices (n is 1). It comes within 10 s, and a server answers within 30 s. Errors are JSON: {\"error\":{\"code\":400,\"message\":\"...\"}}.
";

/// What it is to be.
#[derive(Debug)]
pub enum Role {
    /// A stand-in for a server of a form.
    Engine(Form),
    /// The gateway before a prefill and a decode server.
    Gateway(Server, Server),
    /// To say what it can be.
    Help,
}

const NAMES: [&str; 7] = ["--role", "--listen", "--form", "--prefill", "--prefill-form", "--decode", "--decode-form"];
const DEFAULTS: [&str; 7] = ["gateway", "127.0.0.1:0", "sglang", "", "sglang", "", "sglang"];

/// Reads the options: a role, and where it listens.
pub fn read(arguments: &[String]) -> Result<(Role, String), Wrong> {
    if arguments.iter().any(|argument| ["--help", "-help", "-h"].contains(&argument.as_str())) {
        return Ok((Role::Help, String::new()));
    }
    let mut given = [None; 7];
    for pair in arguments.chunks(2) {
        let at = NAMES.iter().position(|name| *name == pair[0]).ok_or_else(|| format!("{:?} is no option", pair[0]))?;
        given[at] = Some(pair.get(1).ok_or_else(|| format!("{} needs a value", pair[0]))?.as_str());
    }
    let value = |name: &str| NAMES.iter().position(|known| *known == name).map_or("", |at| given[at].unwrap_or(DEFAULTS[at]));
    let engine = match value("--role") {
        "engine" => true,
        "gateway" => false,
        other => return Err(format!("--role is {other:?}, allowed are gateway and engine")),
    };
    for (name, given) in NAMES.iter().zip(given).skip(2) {
        if given.is_some() && engine != (*name == "--form") {
            return Err(format!("{name} is no option of the role {}", value("--role")));
        }
    }
    let listen = value("--listen");
    if !is_address(listen) {
        return Err(format!("--listen is {listen:?}, allowed is HOST:PORT with a port of 0 .. 65535"));
    }
    let form = |name: &str| Form::named(value(name)).ok_or_else(|| format!("{name} is {:?}, allowed are sglang, vllm and prime", value(name)));
    let server = |name: &str| {
        let address = match value(name).strip_prefix("http://").map(|rest| rest.strip_suffix('/').unwrap_or(rest)) {
            _ if value(name).is_empty() => return Err(format!("a gateway needs {name} URL")),
            Some(address) if is_address(address) && !address.contains(['/', '?', '#', '@']) => address.to_owned(),
            _ => return Err(format!("{name} is {:?}, allowed is http://HOST:PORT", value(name))),
        };
        Ok(Server { address, form: form(&format!("{name}-form"))? })
    };
    let role = if engine { Role::Engine(form("--form")?) } else { Role::Gateway(server("--prefill")?, server("--decode")?) };
    Ok((role, listen.to_owned()))
}

fn is_address(text: &str) -> bool {
    text.rsplit_once(':')
        .is_some_and(|(host, port)| !host.is_empty() && port.bytes().all(|digit| digit.is_ascii_digit()) && port.parse::<u16>().is_ok())
}
