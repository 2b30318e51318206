import { Button, MultiSelect, Select, TextInput } from '@mantine/core'
import { useForm, type UseFormReturnType } from '@mantine/form'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { anyModelsQuery } from '../../api/operator/catalogue.ts'
import {
  addGroup,
  type AnyGroup,
  changeGroup,
  type NewGroup,
  removeGroup,
} from '../../api/operator/groups.ts'
import { Confirm } from '../../parts/forms/confirm.tsx'
import { everyOf } from '../../parts/forms/every-of.ts'
import sheet from '../../parts/forms/sheet.module.css'
import { useSubmit } from '../../parts/forms/use-submit.ts'
import { Icon } from '../../parts/marks/icon.tsx'
import { Marked } from '../../parts/marks/marked.tsx'
import { inBackground } from '../../parts/page/in-background.ts'
import { Changes } from '../parts/differences.tsx'
import type { FieldDifference } from '../parts/field-difference.ts'
import { FormSheet } from '../parts/form-sheet.tsx'
import { Trail } from '../parts/trail.tsx'
import { GroupKeys } from './group-keys.tsx'
import { useTranslation } from '../../texts/use-translation.ts'

interface GroupFormProps {
  /** undefined: a new group. */
  readonly of: AnyGroup | undefined
  readonly onClose: () => void
}

type Protocol = NonNullable<NewGroup['protocol']>
type GroupValues = {
  readonly name: string
  /** The gateway's name of the protocol. */
  readonly protocol: string
  readonly models: string[]
}

const PROTOCOLS = everyOf<Protocol>({
  chat: true,
  responses: true,
  messages: true,
  gemini: true,
  embeddings: true,
  'gemini-embeddings': true,
  moderation: true,
  rerank: true,
  images: true,
  speech: true,
  transcription: true,
})

/** The form of a group: protocol and models of its keys. */
export function GroupForm({ of, onClose }: GroupFormProps) {
  const { t } = useTranslation()
  const renewGroups = useRenewGroups()
  const before = valuesOf(of)
  const values = useForm<GroupValues>({
    initialValues: before,
    validate: {
      name: (name) => (name.trim() === '' ? t('platform.nameWanted') : null),
      models: (chosen) => (chosen.length === 0 ? t('platform.modelsWanted') : null),
    },
  })
  const sending = useSubmit(values, {
    send: ({ name, protocol, models }) => {
      const next = { models, ...(PROTOCOLS.is(protocol) ? { protocol } : {}) }
      return of === undefined ? addGroup({ name: name.trim(), ...next }) : changeGroup(of.name, next)
    },
    onDone: () => {
      renewGroups()
      onClose()
    },
  })
  const names = { name: t('platform.group'), protocol: t('calls.protocol'), models: t('pages.models') }
  return (
    <FormSheet
      title={of === undefined ? t('platform.addGroup') : t('platform.editGroup', { group: of.name })}
      sending={sending}
      onClose={onClose}
      {...(of === undefined ? {} : { below: <About of={of} onClose={onClose} /> })}
    >
      <Fields values={values} of={of} />
      <Changes
        of={differencesOf(values.values, before)}
        nameOf={(field) => Object.entries(names).find(([name]) => name === field)?.[1] ?? field}
      />
    </FormSheet>
  )
}

interface FieldsProps {
  readonly values: UseFormReturnType<GroupValues>
  readonly of: AnyGroup | undefined
}

function Fields({ values, of }: FieldsProps) {
  const { t } = useTranslation()
  const { data: models = [] } = useQuery(anyModelsQuery)
  const known = new Set([...models.map(({ model_id: id }) => id), ...(of?.models ?? [])])
  return (
    <>
      {of === undefined && (
        <TextInput
          label={t('platform.group')}
          description={t('platform.groupHint')}
          maxLength={100}
          data-autofocus
          {...values.getInputProps('name')}
        />
      )}
      <Select
        label={t('calls.protocol')}
        description={t('platform.protocolHint')}
        data={PROTOCOLS.all}
        allowDeselect={false}
        {...values.getInputProps('protocol')}
      />
      <MultiSelect
        label={t('pages.models')}
        description={t('platform.modelsHint')}
        data={[...known]}
        searchable
        {...values.getInputProps('models')}
      />
    </>
  )
}

function valuesOf(of: AnyGroup | undefined): GroupValues {
  return {
    name: of?.name ?? '',
    protocol: of?.protocol ?? 'chat',
    models: [...(of?.models ?? [])],
  }
}

function differencesOf(values: GroupValues, before: GroupValues): readonly FieldDifference[] {
  const fields = ['name', 'protocol', 'models'] as const
  return fields
    .map((field) => ({ field, from: textOf(before[field]), to: textOf(values[field]) }))
    .filter(({ from, to }) => from !== to)
}

function textOf(value: string | readonly string[]): string {
  return typeof value === 'string' ? value : value.join(', ')
}

function useRenewGroups(): () => void {
  const queryClient = useQueryClient()
  return () => {
    for (const key of ['any-groups', 'groups', 'audit'])
      inBackground(queryClient.invalidateQueries({ queryKey: [key] }))
  }
}

/** The group's keys, its history, and deleting it. */
function About({ of, onClose }: { readonly of: AnyGroup; readonly onClose: () => void }) {
  return (
    <>
      <GroupKeys group={of.name} />
      <Trail subject={of.name} />
      <Removing of={of} onClose={onClose} />
    </>
  )
}

function Removing({ of, onClose }: { readonly of: AnyGroup; readonly onClose: () => void }) {
  const { t } = useTranslation()
  const renewGroups = useRenewGroups()
  const [asked, ask] = useState(false)
  return (
    <div className={sheet.part}>
      <Button variant="default" leftSection={<Icon name="trash" />} onClick={() => ask(true)}>
        {t('platform.removeGroup')}
      </Button>
      {asked && (
        <Confirm
          title={t('platform.removeTitle')}
          action={t('platform.removeGroup')}
          onClose={() => ask(false)}
          onConfirm={async () => {
            await removeGroup(of.name)
            renewGroups()
            onClose()
          }}
        >
          <Marked text={t('platform.removeText', { group: of.name })} />
        </Confirm>
      )}
    </div>
  )
}
