import { Button, FileInput, NumberInput, Select, Textarea, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import form from '../parts/forms/form.module.css'
import { Icon } from '../parts/marks/icon.tsx'
import { inBackground } from '../parts/page/in-background.ts'
import { Problem } from '../parts/page/problem.tsx'
import { useFormat } from '../parts/values/format.ts'
import type { AnswerProps, Field, FileField, Files, FormKind } from './kinds/kind.ts'
import styles from './playground.module.css'
import type { Caller } from './use-call.ts'
import { useKindName } from './use-kind-name.ts'
import { useTranslation } from '../texts/use-translation.ts'

interface OnceFormProps {
  readonly model: string
  readonly kind: FormKind
  readonly caller: Caller
}

/** A form with one answer: the fields, and the answer below them. */
export function OnceForm({ model, kind, caller }: OnceFormProps) {
  const { t } = useTranslation()
  const kindName = useKindName()
  const [values, setValues] = useState<Readonly<Record<string, string>>>(() =>
    Object.fromEntries(kind.fields.map(({ name, initial }) => [name, initial])),
  )
  const [files, setFiles] = useState<Files>({})
  const { answer, ask } = useAnswer({ model, kind, caller }, { values, files })
  const isRunning = caller.call?.state === 'running'
  return (
    <section className={styles.talk} aria-label={kindName(kind)}>
      <form
        className={form.stack}
        onSubmit={(event) => {
          event.preventDefault()
          inBackground(ask())
        }}
      >
        {kind.fields.map((field) => (
          <OneField
            key={field.name}
            field={field}
            value={values[field.name] ?? ''}
            onChange={(value) => setValues((now) => ({ ...now, [field.name]: value }))}
          />
        ))}
        {kind.files?.map((field) => (
          <OneFile
            key={field.name}
            field={field}
            value={files[field.name]}
            onChange={(file) => setFiles((now) => withFile(now, field.name, file))}
          />
        ))}
        <div className={form.foot}>
          {isRunning && (
            <Button variant="default" leftSection={<Icon name="stop" size={14} />} onClick={caller.stop}>
              {t('playground.stop')}
            </Button>
          )}
          <Button type="submit" disabled={isRunning || !isFilled(kind, values, files)}>
            {t('playground.send')}
          </Button>
        </div>
      </form>
      <Result kind={kind} caller={caller} answer={answer} onRetry={() => inBackground(ask())} />
    </section>
  )
}

/** Whether all required fields are filled. */
function isFilled(kind: FormKind, values: Readonly<Record<string, string>>, files: Files): boolean {
  return (
    kind.fields.every(({ name }) => values[name]?.trim() !== '') &&
    (kind.files ?? []).every(({ name, optional }) => optional === true || files[name] !== undefined)
  )
}

interface ResultProps extends Omit<OnceFormProps, 'model'> {
  readonly answer: Pick<AnswerProps, 'answer' | 'file'> | undefined
  readonly onRetry: () => void
}

/** The outcome of the call. */
function Result({ kind, caller, answer, onRetry }: ResultProps) {
  const { t } = useTranslation()
  const { call } = caller
  switch (call?.state) {
    case undefined:
      return null
    case 'running':
      return <Waiting kind={kind} caller={caller} sentAt={call.sentAt} />
    case 'failed':
      return <Problem error={call.error} onRetry={onRetry} />
    case 'stopped':
      return <p className={styles.hint}>{t('playground.stopped')}</p>
    case 'done':
      return (
        answer !== undefined && (
          <kind.Answer request={call.request} {...answer} get={(path) => caller.ask(path)} />
        )
      )
  }
}

/** Sends the form and keeps the answer until the next one. */
function useAnswer(
  { model, kind, caller }: OnceFormProps,
  { values, files }: { readonly values: Readonly<Record<string, string>>; readonly files: Files },
) {
  const [answer, setAnswer] = useState<Pick<AnswerProps, 'answer' | 'file'>>()
  const ask = async (): Promise<void> => {
    setAnswer(undefined)
    await caller.send(kind.request(model, values, files), {
      onEvent: () => undefined,
      onAnswer: (whole) => setAnswer({ answer: whole, file: undefined }),
      onFile: (file) => setAnswer({ answer: {}, file }),
    })
  }
  return { answer, ask }
}

function withFile(files: Files, name: string, file: File | null): Files {
  const { [name]: _former, ...others } = files
  return file === null ? others : { ...others, [name]: file }
}

interface OneFileProps {
  readonly field: FileField
  readonly value: File | undefined
  readonly onChange: (file: File | null) => void
}

function OneFile({ field: { name, accept, optional }, value, onChange }: OneFileProps) {
  const { t } = useTranslation()
  return (
    <FileInput
      label={t(`playground.files.${name}`)}
      placeholder={t('playground.choose')}
      accept={accept}
      clearable={optional === true}
      clearButtonProps={{ 'aria-label': t('playground.detach', { name: value?.name ?? '' }) }}
      value={value ?? null}
      onChange={onChange}
    />
  )
}

interface OneFieldProps {
  readonly field: Field
  readonly value: string
  readonly onChange: (value: string) => void
}

function OneField({ field: { name, input, choices = [] }, value, onChange }: OneFieldProps) {
  const { t } = useTranslation()
  const label = t(`playground.fields.${name}`)
  switch (input) {
    case 'lines':
      return (
        <Textarea
          label={label}
          rows={4}
          value={value}
          onChange={({ currentTarget }) => onChange(currentTarget.value)}
        />
      )
    case 'line':
      return (
        <TextInput
          label={label}
          value={value}
          onChange={({ currentTarget }) => onChange(currentTarget.value)}
        />
      )
    case 'choice':
      return (
        <Select label={label} data={[...choices]} value={value} onChange={(next) => onChange(next ?? '')} />
      )
    case 'number':
      return (
        <NumberInput
          label={label}
          min={1}
          allowDecimal={false}
          value={value}
          onChange={(next) => onChange(String(next))}
        />
      )
  }
}

const TICK_MS = 500
const PROGRESS_MS = 2_000

/** Elapsed time, and progress if the gateway reports it. */
function Waiting({
  kind,
  caller,
  sentAt,
}: Pick<OnceFormProps, 'kind' | 'caller'> & { readonly sentAt: number }) {
  const { t } = useTranslation()
  const format = useFormat()
  const { data: elapsed = 0 } = useQuery({
    queryKey: ['playground-elapsed', sentAt],
    queryFn: () => performance.now() - sentAt,
    refetchInterval: TICK_MS,
    gcTime: 0,
  })
  const { progress } = kind
  const { data: share } = useQuery({
    queryKey: ['playground-progress', sentAt],
    queryFn: async () => (await progress?.((path) => caller.ask(path))) ?? null,
    enabled: progress !== undefined,
    refetchInterval: PROGRESS_MS,
    gcTime: 0,
  })
  return (
    <div className={styles.waiting} role="status">
      {share !== undefined && share !== null && (
        <progress aria-label={t('playground.progress')} max={100} value={share} />
      )}
      <span>
        {t('playground.elapsed', { time: format.duration(Math.floor(elapsed / 1_000) * 1_000) })}
        {share !== undefined && share !== null && ` · ${format.percent(share / 100)}`}
      </span>
    </div>
  )
}
