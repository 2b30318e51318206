/**
 * The model of the suite, behind every protocol: reads `input.txt` with whatever tool the client has for that, writes its
 * word in capitals into `output.txt`, and says so. What it wrote comes from what it read, so a tool result that is lost
 * on the way is seen in the file.
 */
import { createServer } from 'node:http'
import { join } from 'node:path'
import { WIRE } from './wire.mjs'

/** A word nobody would guess. */
const WORD = /needle-[a-z]+/

/** `folder()`: where the client works now. */
export async function openAgentUpstream(folder) {
  const problems = []
  let turns = 0
  const server = createServer((request, response) => {
    let text = ''
    request.on('data', (chunk) => {
      text += chunk
    })
    request.on('end', () => {
      const protocol = protocolOf(request.url)
      if (protocol === undefined) {
        response.writeHead(404, { 'content-type': 'application/json' })
        response.end('{"error":{"message":"no such path","type":"not_found_error"}}')
        return
      }
      const wire = WIRE[protocol]
      const body = JSON.parse(text)
      const id = `turn${turns++}`
      const streamed = body.stream === true || request.url.includes('streamGenerateContent')
      const say = answer(wire.read(body), folder(), problems)
      if (streamed) {
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        for (const piece of wire.write(say, id)) response.write(piece)
        response.end()
      } else {
        response.writeHead(200, { 'content-type': 'application/json' })
        response.end(JSON.stringify(wire.whole(say.tool ? { text: '' } : say, id)))
      }
    })
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    problems,
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}

function protocolOf(url) {
  const [path] = url.split('?')
  if (path.endsWith(':streamGenerateContent') || path.endsWith(':generateContent')) return 'gemini'
  return Object.keys(WIRE).find((name) => WIRE[name].path === path)
}

/** One step further than the tool results of the conversation show. Side calls without tools (titles, summaries) get a word. */
function answer({ tools, results }, folder, problems) {
  if (tools.length === 0) return { text: 'A task with files' }
  const read = results.map((result) => WORD.exec(result)?.[0]).find((word) => word !== undefined)
  if (results.length === 0) return { tool: readTool(tools, folder, problems) }
  if (read === undefined) {
    problems.push(`the result of reading does not hold the word: ${results.join(' | ').slice(0, 300)}`)
    return { text: 'I could not read it.' }
  }
  if (results.length === 1) return { tool: writeTool(tools, folder, { word: read.toUpperCase(), problems }) }
  return { text: `All done: ${read.toUpperCase()}` }
}

const FILE_FIELDS = ['file_path', 'absolute_path', 'filePath', 'path']
const SHELL_FIELDS = ['cmd', 'command']

function readTool(tools, folder, problems) {
  const file = join(folder, 'input.txt')
  return (
    fileTool(tools, ['Read', 'read_file', 'read'], { file }) ??
    shellTool(tools, `cat ${file}`) ??
    missing(tools, problems)
  )
}

function writeTool(tools, folder, { word, problems }) {
  const file = join(folder, 'output.txt')
  return (
    fileTool(tools, ['Write', 'write_file', 'write'], { file, content: `${word}\n` }) ??
    shellTool(tools, `echo ${word} > ${file}`) ??
    missing(tools, problems)
  )
}

function fileTool(tools, names, { file, content }) {
  const tool = tools.find(({ name }) => names.includes(name))
  if (tool === undefined) return undefined
  const field = FILE_FIELDS.find((name) => tool.schema?.properties?.[name] !== undefined)
  if (field === undefined) return undefined
  return {
    name: tool.name,
    arguments: { [field]: file, ...(content === undefined ? {} : { content }) },
  }
}

function shellTool(tools, line) {
  const tool = tools.find(({ schema }) =>
    SHELL_FIELDS.some((name) => schema?.properties?.[name] !== undefined),
  )
  if (tool === undefined) return undefined
  const field = SHELL_FIELDS.find((name) => tool.schema.properties[name] !== undefined)
  const list = tool.schema.properties[field].type === 'array'
  return { name: tool.name, arguments: { [field]: list ? ['bash', '-lc', line] : line } }
}

function missing(tools, problems) {
  problems.push(`no tool to read or write with among ${tools.map(({ name }) => name).join(', ')}`)
  return { name: 'none', arguments: {} }
}
