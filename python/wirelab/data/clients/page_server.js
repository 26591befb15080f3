// Serves a page by Node's own modules `http`, `https` and `http2`: the server's half of the contract (docs/contract.md)
// for the workload `page`. The one argument is the parameter file.
'use strict';

const fs = require('node:fs');
const http = require('node:http');
const http2 = require('node:http2');
const https = require('node:https');
const path = require('node:path');

const USAGE = 2;
const UNSUPPORTED = 3;
const HINTS = {
  http1: ['none', 'preload'],
  https1: ['none', 'preload'],
  h2c: ['none', 'preload', 'early-hints', 'push'],
  h2: ['none', 'preload', 'early-hints', 'push'],
};
const AS = {stylesheet: 'style', script: 'script', image: 'image', font: 'font; crossorigin'};
const {NGHTTP2_REFUSED_STREAM} = http2.constants;

function main(file) {
  const parameters = read(file);
  const hints = parameters.settings.hints ?? 'none';
  if (parameters.role !== 'server' || parameters.workload.kind !== 'page' || !HINTS[parameters.protocol]?.includes(hints)) {
    console.error(`${parameters.protocol}, ${parameters.role}, ${parameters.workload.kind}, hints ${hints}`);
    process.exit(UNSUPPORTED);
  }
  const {address, port} = parameters.server;
  const server = make(parameters, pageOf(parameters, hints), hints);
  server.listen({host: address, port}, () => {
    console.log(JSON.stringify({event: 'ready', ports: {main: server.address().port}}));
  });
  // Connections that a client keeps would hold it up.
  process.on('SIGTERM', () => process.exit(0));
}

function read(file) {
  try {
    return JSON.parse(fs.readFileSync(file, 'utf8'));
  } catch (error) {
    console.error(`cannot read the parameters: ${error.message}`);
    return process.exit(USAGE);
  }
}

/** Path to what is there: its file, its fields, and the hint at it. */
function pageOf({page}, hints) {
  const {resources} = JSON.parse(fs.readFileSync(page.manifest, 'utf8'));
  return new Map(resources.map((each) => {
    const name = decodeURIComponent(each.path.split('?')[0]).replace(/^\/+/, '');
    const fields = {'content-type': each.media_type, 'content-length': each.body_bytes};
    // What a browser fetches because of a 103 waits in its cache: unless it is fresh, it is fetched again.
    if (hints === 'early-hints') fields['cache-control'] = 'max-age=3600';
    const link = `<${each.path}>; rel=preload; as=${AS[each.kind] ?? 'fetch; crossorigin'}`;
    return [each.path, {file: path.join(page.folder, name), fields, link}];
  }));
}

function make({protocol, settings, certificates}, page, hints) {
  const answer = (request, response) => respond(request, response, page, hints);
  const options = {noDelay: !settings.nagle};
  if (protocol === 'http1') return http.createServer(options, answer);
  if (protocol === 'h2c') return http2.createServer(options, answer);
  const version = `TLSv${settings.tls ?? '1.3'}`;
  Object.assign(options, {
    cert: fs.readFileSync(certificates.chain),
    key: fs.readFileSync(certificates.key),
    minVersion: version,
    maxVersion: version,
  });
  return protocol === 'h2' ? http2.createSecureServer(options, answer) : https.createServer(options, answer);
}

function respond(request, response, page, hints) {
  const found = page.get(request.url);
  if (!found) {
    response.writeHead(404).end();
    return;
  }
  const [document, ...others] = page.values();
  if (found === document && hints !== 'none') hint(response, [...page.keys()].slice(1), others, hints);
  response.writeHead(200, found.fields);
  fs.createReadStream(found.file).pipe(response);
}

function hint(response, paths, others, hints) {
  const link = others.map((each) => each.link);
  if (hints === 'preload') {
    response.setHeader('link', link);
  } else if (hints === 'early-hints') {
    response.stream.additionalHeaders({':status': 103, link});
  } else if (response.stream.pushAllowed) {
    others.forEach((each, index) => push(response.stream, paths[index], each));
  }
}

function push(stream, where, {file, fields}) {
  stream.pushStream({':path': where}, (error, pushed) => {
    if (error) return;
    // Who has it already refuses it.
    pushed.on('error', (reason) => {
      if (pushed.rstCode !== NGHTTP2_REFUSED_STREAM) console.error(`push of ${where}: ${reason.message}`);
    });
    pushed.respondWithFile(file, {':status': 200, ...fields});
  });
}

main(process.argv[2]);
