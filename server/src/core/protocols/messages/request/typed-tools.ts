/**
 * Tools that Anthropic defines by type but the client runs. Other protocols do not have these types, so they get a
 * function with the documented schema; without it the agent could not act
 * (docs/protocols.md#requests-between-protocols).
 */
import type { JsonObject } from '../../../json.ts'

export interface TypedTool {
  readonly description: string
  readonly parameters: JsonObject
}

/** undefined: no client-run tool of this type is known. */
export function findTypedTool(type: string): TypedTool | undefined {
  return TYPED_TOOLS.find(({ prefix }) => type.startsWith(prefix))?.tool
}

/** Types whose single entry stands for many tools, each with its own name; only this protocol has them. */
export function isToolset(type: string): boolean {
  return type.startsWith('computer_toolset_') || type.startsWith('browser_toolset_')
}

const path = { type: 'string', description: 'Absolute path of a file or directory.' }
const line = { type: 'integer', minimum: 0 }
const viewRange = {
  type: 'array',
  items: { type: 'integer' },
  description: 'For view: first and last line, counted from 1; -1 as the last means to the end.',
}
const oldText = {
  type: 'string',
  description: 'For str_replace: the text to replace; it must occur exactly once.',
}
const fileText = { type: 'string', description: 'For create: the whole content of the file.' }
const insertLine = { ...line, description: 'For insert: the line after which to insert; 0 is the beginning.' }
const insertText = { type: 'string', description: 'For insert: the text to insert.' }

const BASH: TypedTool = {
  description: 'Runs a command in a bash session that keeps its state between calls.',
  parameters: {
    type: 'object',
    properties: {
      command: { type: 'string', description: 'The command to run. Needed unless restart is true.' },
      restart: { type: 'boolean', description: 'true starts the session anew instead of running a command.' },
    },
  },
}

const TEXT_EDITOR: TypedTool = {
  description: 'Views, creates and edits text files.',
  parameters: {
    type: 'object',
    properties: {
      command: { type: 'string', enum: ['view', 'create', 'str_replace', 'insert'] },
      path,
      view_range: viewRange,
      old_str: oldText,
      new_str: {
        type: 'string',
        description: 'For str_replace: the new text. For insert: the same text as insert_text.',
      },
      file_text: fileText,
      insert_line: insertLine,
      insert_text: insertText,
    },
    required: ['command', 'path'],
  },
}

const MEMORY: TypedTool = {
  description: 'Keeps notes between conversations in files below /memories. Look there before you begin.',
  parameters: {
    type: 'object',
    properties: {
      command: { type: 'string', enum: ['view', 'create', 'str_replace', 'insert', 'delete', 'rename'] },
      path: { ...path, description: 'Path below /memories; for every command but rename.' },
      view_range: viewRange,
      file_text: fileText,
      old_str: oldText,
      new_str: { type: 'string', description: 'For str_replace: the new text.' },
      insert_line: insertLine,
      insert_text: insertText,
      old_path: { type: 'string', description: 'For rename: the present path.' },
      new_path: { type: 'string', description: 'For rename: the new path.' },
    },
    required: ['command'],
  },
}

const point = { type: 'array', items: { type: 'integer' } }

const COMPUTER_ACTIONS =
  'key type mouse_move left_click left_click_drag right_click middle_click double_click triple_click ' +
  'left_mouse_down left_mouse_up scroll hold_key wait screenshot cursor_position zoom'

const COMPUTER: TypedTool = {
  description: 'Uses mouse and keyboard of a computer and takes screenshots of it.',
  parameters: {
    type: 'object',
    properties: {
      action: {
        type: 'string',
        enum: COMPUTER_ACTIONS.split(' '),
      },
      coordinate: { ...point, description: 'x and y in pixels, for mouse actions and scroll.' },
      start_coordinate: { ...point, description: 'For left_click_drag: where it begins.' },
      text: { type: 'string', description: 'The text to type, or the keys to press or hold.' },
      scroll_direction: { type: 'string', enum: ['up', 'down', 'left', 'right'] },
      scroll_amount: { ...line, description: 'For scroll: clicks of the wheel.' },
      duration: { type: 'number', description: 'For wait and hold_key: seconds.' },
      region: { ...point, description: 'For zoom: x0, y0, x1, y1.' },
    },
    required: ['action'],
  },
}

const TYPED_TOOLS: readonly { readonly prefix: string; readonly tool: TypedTool }[] = [
  { prefix: 'bash_', tool: BASH },
  { prefix: 'text_editor_', tool: TEXT_EDITOR },
  { prefix: 'memory_', tool: MEMORY },
  { prefix: 'computer_2', tool: COMPUTER },
]
