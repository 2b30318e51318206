/** nginx twice: as the upstream that answers whole requests, and as a proxy that is compared. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { embeddingAnswer, imageAnswer, isWhole, MODES, smallAnswer } from './answers.mjs'
import { startPinned } from './processes.mjs'

const SETTINGS = `
  access_log off;
  keepalive_requests 100000000;
  keepalive_timeout 300s;
  client_max_body_size 200m;
  client_body_buffer_size 64k;
  tcp_nodelay on;
  default_type application/json;
`

/** Answers everything with 1.2 KB, without reading the request's body: calls of each kind with the same. */
export async function startUpstream({ core, folder }) {
  const port = await freePort()
  const give = (answer) => `return 200 '${answer.replaceAll('$', '').replaceAll("'", '')}';`
  return startNginx({
    core,
    folder,
    name: 'upstream',
    port,
    http: `server {
      listen 127.0.0.1:${port} reuseport backlog=8192;
      location / { ${give(smallAnswer())} }
      location ~ /embeddings$ { ${give(embeddingAnswer())} }
      location ~ /images/generations$ { ${give(imageAnswer())} }
    }`,
  })
}

export async function startProxy({ core, folder, wholePort, streamPort }) {
  const port = await freePort()
  const location = (mode, upstream) => `
    location ${MODES[mode].prefix}/ {
      proxy_pass http://${upstream};
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_request_buffering off;
      proxy_buffering ${MODES[mode].stream ? 'off' : 'on'};
      proxy_read_timeout 300s;
    }`
  return startNginx({
    core,
    folder,
    name: 'proxy',
    port,
    http: `
      upstream whole { server 127.0.0.1:${wholePort}; keepalive 256; keepalive_requests 100000000; }
      upstream streams { server 127.0.0.1:${streamPort}; keepalive 256; keepalive_requests 100000000; }
      server {
        listen 127.0.0.1:${port} backlog=8192;
        ${Object.keys(MODES)
          .map((mode) => location(mode, isWhole(mode) ? 'whole' : 'streams'))
          .join('')}
      }`,
  })
}

async function startNginx({ core, folder, name, port, http }) {
  const home = join(folder, `nginx-${name}`)
  mkdirSync(home, { recursive: true })
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((kind) => `${kind}_temp_path ${home}/${kind};`)
    .join('\n')
  const config = `
    worker_processes 1;
    worker_rlimit_nofile 30000;
    daemon off;
    pid ${home}/pid;
    error_log ${home}/error.log;
    events { worker_connections 16000; }
    http { ${temporary} ${SETTINGS} ${http} }`
  writeFileSync(join(home, 'nginx.conf'), config)
  const running = await startPinned({
    core,
    file: 'nginx',
    args: ['-c', join(home, 'nginx.conf'), '-e', join(home, 'error.log'), '-g', 'error_log stderr notice;'],
    ready: (printed) => (printed.includes('start worker process ') ? true : undefined),
  })
  return { ...running, port }
}

export function freePort() {
  return new Promise((resolve, reject) => {
    const probe = createServer()
    probe.once('error', reject)
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address()
      probe.close(() => resolve(port))
    })
  })
}
