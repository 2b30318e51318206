import { Button, FileInput, Switch, Textarea } from '@mantine/core'
import { useForm, type UseFormReturnType } from '@mantine/form'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { saidOf } from '../../api/api-error.ts'
import { exportGatewayFile } from '../../api/operator/models.ts'
import { applyFile, type FileReview } from '../../api/operator/settings.ts'
import form from '../../parts/forms/form.module.css'
import { useSubmit } from '../../parts/forms/use-submit.ts'
import { State } from '../../parts/marks/state.tsx'
import { Done } from '../../parts/page/done.tsx'
import { inBackground } from '../../parts/page/in-background.ts'
import { FormProblem, Note } from '../../parts/page/problem.tsx'
import { useProblemText, useSentence } from '../../parts/page/use-problem.ts'
import { CopyButton } from '../../parts/snippets/copy-button.tsx'
import { Differences } from '../parts/differences.tsx'
import styles from './platform.module.css'
import { useTranslation } from '../../texts/use-translation.ts'

type FileValues = {
  readonly file: string
  readonly prune: boolean
}

/** The configuration as one file: exported, edited or uploaded; reviewed before it is applied. */
export function FileForm() {
  const { t } = useTranslation()
  const queryClient = useQueryClient()
  const [reviewed, review] = useState<FileReview>()
  const values = useForm<FileValues>({
    initialValues: { file: '', prune: false },
    validate: { file: (text) => (text.trim() === '' ? t('platform.fileWanted') : null) },
    // A review is valid only for the text it was made from.
    onValuesChange: () => review(undefined),
  })
  const found = reviewed?.mode === 'dry-run' && reviewed.differences.length > 0 ? reviewed : undefined
  const sending = useSubmit(values, {
    send: ({ file, prune }) => {
      const body = { file, missing: prune ? 'prune' : 'stays' } as const
      return applyFile(found === undefined ? body : { ...body, review: found.review })
    },
    onDone: (answer) => {
      review(answer)
      // A file can change whatever a page shows.
      if (answer.mode === 'applied') inBackground(queryClient.invalidateQueries())
    },
  })
  return (
    <div className={styles.file}>
      <form noValidate className={form.stack} onSubmit={sending.submit}>
        <Source values={values} />
        {reviewed !== undefined && <Review of={reviewed} />}
        <FormProblem text={sending.problem} />
        {reviewed?.mode !== 'applied' && (
          <div className={form.foot}>
            <Button type="submit" loading={sending.isPending}>
              {found === undefined
                ? t('platform.compare')
                : t('platform.apply', { count: found.differences.length })}
            </Button>
          </div>
        )}
      </form>
    </div>
  )
}

function Source({ values }: { readonly values: UseFormReturnType<FileValues> }) {
  const { t } = useTranslation()
  const problemText = useProblemText()
  const reading = useMutation({
    mutationFn: async () => (await exportGatewayFile('yaml')).text(),
    onSuccess: (text) => values.setFieldValue('file', text),
  })
  return (
    <>
      <p className={form.words}>{t('platform.fileLead')}</p>
      <div className={styles.source}>
        <FileInput
          aria-label={t('platform.chooseFile')}
          placeholder={t('platform.chooseFile')}
          accept=".yaml,.yml,.json"
          onChange={(file) => {
            if (file !== null) inBackground(file.text().then((text) => values.setFieldValue('file', text)))
          }}
        />
        <Button variant="default" loading={reading.isPending} onClick={() => reading.mutate()}>
          {t('platform.readStored')}
        </Button>
      </div>
      <FormProblem text={reading.error === null ? undefined : problemText(reading.error)} />
      <Textarea
        label={t('platform.text')}
        placeholder={'groups:\n  - {name: team, protocol: chat, models: [gpt-5]}'}
        autosize
        minRows={8}
        maxRows={20}
        spellCheck={false}
        {...values.getInputProps('file')}
      />
      <Switch
        label={t('platform.prune')}
        description={t('platform.pruneHint')}
        {...values.getInputProps('prune', { type: 'checkbox' })}
      />
    </>
  )
}

const SIGNS = {
  create: { icon: 'plus', tone: 'good' },
  change: { icon: 'edit', tone: 'warn' },
  grant: { icon: 'plus', tone: 'good' },
  disable: { icon: 'paused', tone: 'bad' },
  remove: { icon: 'trash', tone: 'bad' },
} as const

function Review({ of }: { readonly of: FileReview }) {
  const { t } = useTranslation()
  const sentence = useSentence()
  const isApplied = of.mode === 'applied'
  return (
    <div className={form.part} role="status">
      {isApplied && <Done text={t('platform.applied', { count: of.differences.length })} />}
      <NewKeys of={of} />
      <h3>{t(isApplied ? 'platform.changed' : 'operate.changes')}</h3>
      {of.warnings.map(({ line, column, path, message, ...told }) => (
        <Note key={`${line}:${column} ${message}`}>
          {line}:{column} <code>{path}</code> {sentence({ message, said: saidOf(told) })}
        </Note>
      ))}
      {of.differences.length === 0 && <p className={form.hint}>{t('platform.nothingDiffers')}</p>}
      {of.differences.map(({ action, what, name, fields }) => (
        <OneDifference key={`${action} ${what} ${name}`} of={{ action, what, name, fields }} />
      ))}
    </div>
  )
}

/** The change of one row; the fields of a new row are shown on demand. */
function OneDifference({
  of: { action, what, name, fields },
}: {
  readonly of: FileReview['differences'][number]
}) {
  const { t } = useTranslation()
  const known = WHATS.find((each) => each === what)
  const head = (
    <>
      <State {...SIGNS[action]}>
        {`${t(`platform.actions.${action}`)} ${known === undefined ? what : t(`platform.whats.${known}`)}`}
      </State>
      <code>{name}</code>
    </>
  )
  const isNew = action === 'create'
  const told = isNew ? fields.filter(({ to }) => to !== null && to !== '') : fields
  if (told.length === 0) return <div className={styles.act}>{head}</div>
  return (
    <details open={!isNew}>
      <summary className={styles.act}>{head}</summary>
      <Differences label={`${what} ${name}`} of={told} isNew={isNew} />
    </details>
  )
}

const WHATS = [
  'account',
  'byok',
  'chain',
  'credential',
  'group',
  'key',
  'model',
  'opening',
  'plan',
  'settings',
  'vendor',
] as const

/** Secrets that were created; shown once. */
function NewKeys({ of: { new_keys: keys } }: { readonly of: FileReview }) {
  const { t } = useTranslation()
  if (keys.length === 0) return null
  return (
    <>
      <Note>{t('platform.keysOnce')}</Note>
      {keys.map(({ account, name, key }) => (
        <div key={key}>
          <p className={form.hint}>
            {account} · {name}
          </p>
          <div className={form.once}>
            <code>{key}</code>
            <CopyButton variant="filled" value={key} label={t('platform.copyKey')} />
          </div>
        </div>
      ))}
    </>
  )
}
