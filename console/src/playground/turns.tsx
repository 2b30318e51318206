import { Button, Textarea } from '@mantine/core'
import { useState } from 'react'
import { Icon } from '../parts/marks/icon.tsx'
import { FormProblem } from '../parts/page/problem.tsx'
import { Code } from '../parts/snippets/code.tsx'
import { CopyIcon } from '../parts/snippets/copy-button.tsx'
import type { Reply, ToolCall, Turn } from './conversation.ts'
import styles from './playground.module.css'
import { useTranslation } from '../texts/use-translation.ts'

export function ShownTurn({ turn, model }: { readonly turn: Turn; readonly model: string }) {
  const { t } = useTranslation()
  switch (turn.by) {
    case 'person':
      return (
        <article className={styles.turn}>
          <h2 className={styles.who}>{t('playground.you')}</h2>
          {turn.pictures.length > 0 && (
            <div className={styles.pictures}>
              {turn.pictures.map(({ name, type, base64 }, index) => (
                <img key={index} src={`data:${type};base64,${base64}`} alt={name} />
              ))}
            </div>
          )}
          <p className={styles.words}>{turn.text}</p>
        </article>
      )
    case 'model':
      return <ModelTurn reply={turn} model={model} />
    case 'tool':
      return (
        <article className={styles.turn}>
          <h2 className={styles.who}>{t('playground.answeredBy', { tool: turn.call.name })}</h2>
          <Code text={turn.text} label={t('playground.answeredBy', { tool: turn.call.name })} />
        </article>
      )
  }
}

interface ModelTurnProps {
  readonly reply: Reply
  readonly model: string
  readonly isRunning?: boolean
}

export function ModelTurn({ reply, model, isRunning = false }: ModelTurnProps) {
  const { t } = useTranslation()
  return (
    <article className={styles.turn}>
      <h2 className={styles.who}>
        {model} {isRunning && <span className={styles.state}>{t('playground.speaks')}</span>}
        {!isRunning && reply.text !== '' && (
          <CopyIcon value={reply.text} label={t('playground.copyAnswer')} size="sm" />
        )}
      </h2>
      {reply.thoughts !== '' && (
        <details className={styles.thoughts}>
          <summary>{t('playground.thoughts')}</summary>
          <p className={styles.words}>{reply.thoughts}</p>
        </details>
      )}
      {(reply.text !== '' || isRunning) && (
        <p className={styles.words} data-running={isRunning || undefined}>
          {reply.text}
        </p>
      )}
      {reply.calls.map((call) => (
        <div key={call.id} className={styles.call}>
          <h3>
            <Icon name="tool" size={14} /> <code>{call.name}</code>
          </h3>
          <Code text={call.input} label={t('playground.inputOf', { tool: call.name })} />
        </div>
      ))}
      <FormProblem text={reply.failure} />
    </article>
  )
}

/** A tool call: tools are not run here, the person enters the result. */
export function OpenCall({
  call,
  onAnswer,
}: {
  readonly call: ToolCall
  readonly onAnswer: (text: string) => void
}) {
  const { t } = useTranslation()
  const [text, setText] = useState('')
  return (
    <form
      className={styles.answer}
      onSubmit={(event) => {
        event.preventDefault()
        onAnswer(text)
      }}
    >
      <Textarea
        label={t('playground.answerOf', { tool: call.name })}
        description={t('playground.answerHint')}
        rows={3}
        value={text}
        onChange={({ currentTarget: { value } }) => setText(value)}
      />
      <Button type="submit" disabled={text === ''}>
        {t('playground.answer')}
      </Button>
    </form>
  )
}
