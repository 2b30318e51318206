import { Button } from '@mantine/core'
import { useState } from 'react'
import { Icon } from '../parts/marks/icon.tsx'
import { inBackground } from '../parts/page/in-background.ts'
import { Problem } from '../parts/page/problem.tsx'
import { Composer } from './composer.tsx'
import { NO_REPLY, openCalls, type Parameters, readTools, type Reply, type Turn } from './conversation.ts'
import type { ConversationKind } from './kinds/kind.ts'
import { ParameterFields } from './parameter-fields.tsx'
import styles from './playground.module.css'
import { useSaid } from './use-said.ts'
import { ModelTurn, OpenCall, ShownTurn } from './turns.tsx'
import type { Caller } from './use-call.ts'
import { useTranslation } from '../texts/use-translation.ts'

interface TalkProps {
  readonly model: string
  readonly kind: ConversationKind
  readonly seesPictures: boolean
  readonly caller: Caller
}

const FIRST: Parameters = {
  system: '',
  tools: '',
  temperature: undefined,
  topP: undefined,
  cap: undefined,
  stream: true,
}

/** A conversation; it continues when the model or the protocol is changed. */
export function Talk({ model, kind, seesPictures, caller }: TalkProps) {
  const { t } = useTranslation()
  const [parameters, setParameters] = useState(FIRST)
  const [shown, show] = useState<'parameters'>()
  const { turns, reply, run, add } = useTurns({ model, kind, caller, parameters })
  const { call } = caller
  const isRunning = call?.state === 'running'
  const tools = readTools(parameters.tools)
  const waiting = isRunning ? [] : openCalls(turns)
  return (
    <section className={styles.talk} aria-label={t('playground.conversation')}>
      {shown === 'parameters' && <ParameterFields values={parameters} onChange={setParameters} />}
      <div className={styles.turns}>
        {turns.length === 0 && <p className={styles.hint}>{t('playground.hint')}</p>}
        {turns.map((turn, index) => (
          <ShownTurn key={index} turn={turn} model={model} />
        ))}
        {reply !== undefined && <ModelTurn reply={reply} model={model} isRunning />}
        {waiting.map((each) => (
          <OpenCall key={each.id} call={each} onAnswer={(text) => add({ by: 'tool', call: each, text })} />
        ))}
        {call?.state === 'failed' && (
          <Problem error={call.error} onRetry={() => inBackground(run(withoutReply(turns)))} />
        )}
        {call?.state === 'stopped' && <p className={styles.hint}>{t('playground.stopped')}</p>}
      </div>
      <Composer
        takesPictures={seesPictures}
        isRunning={isRunning}
        canSend={tools !== undefined && waiting.length === 0}
        onSend={(said) => add({ by: 'person', ...said })}
        onStop={caller.stop}
      >
        <Button
          variant="subtle"
          size="xs"
          aria-expanded={shown === 'parameters'}
          leftSection={<Icon name="sliders" size={14} />}
          onClick={() => show(shown === undefined ? 'parameters' : undefined)}
        >
          {t('playground.parameters')}
        </Button>
        {tools !== undefined && tools.length > 0 && (
          <span className={styles.hint}>{t('playground.toolCount', { count: tools.length })}</span>
        )}
      </Composer>
    </section>
  )
}

/** The turns without a reply that failed, to try again. */
function withoutReply(turns: readonly Turn[]): readonly Turn[] {
  return turns.at(-1)?.by === 'model' ? turns.slice(0, -1) : turns
}

/** The turns, and the reply that is streaming. */
function useTurns({
  model,
  kind,
  caller,
  parameters,
}: Pick<TalkProps, 'model' | 'kind' | 'caller'> & { readonly parameters: Parameters }) {
  const { said: turns, keep: setTurns } = useSaid()
  /** undefined: no reply is streaming. */
  const [reply, setReply] = useState<Reply>()
  const run = async (said: readonly Turn[]): Promise<void> => {
    let now = NO_REPLY
    const hear = (next: Reply): void => {
      now = next
      setReply(next)
    }
    hear(NO_REPLY)
    const tools = readTools(parameters.tools) ?? []
    await caller.send(kind.request({ model, turns: said, parameters, tools }), {
      onEvent: (event) => hear(kind.readEvent(now, event)),
      onAnswer: (answer) => hear(kind.readWhole(answer)),
    })
    setReply(undefined)
    if (now !== NO_REPLY) setTurns([...said, { by: 'model', ...now }])
  }
  /** Adds the tool's result, and calls the model once all results are there. */
  const add = (turn: Turn): void => {
    const said = [...turns, turn]
    setTurns(said)
    if (openCalls(said).length === 0) inBackground(run(said))
  }
  return { turns, reply, run, add }
}
