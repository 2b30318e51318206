import { Button, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useQueryClient } from '@tanstack/react-query'
import { useRouter } from '@tanstack/react-router'
import { useState } from 'react'
import { closeOrganisation, leaveOrganisation, renameOrganisation } from '../api/organisations.ts'
import { organisationsQuery, useIsOwner, useMayManage } from '../api/session.ts'
import { Confirm } from '../parts/forms/confirm.tsx'
import { useSubmit } from '../parts/forms/use-submit.ts'
import { Marked } from '../parts/marks/marked.tsx'
import { inBackground } from '../parts/page/in-background.ts'
import { FormProblem } from '../parts/page/problem.tsx'
import styles from './organisation.module.css'
import { useTranslation } from '../texts/use-translation.ts'

interface AffairsProps {
  readonly id: string
  readonly name: string
}

/** Renames, leaves or closes the organisation. */
export function Affairs({ id, name }: AffairsProps) {
  const { t } = useTranslation()
  const mayManage = useMayManage()
  const isOwner = useIsOwner()
  return (
    <section className={styles.part}>
      <h2 className={styles.title}>{t('organisation.affairs')}</h2>
      {mayManage && <Rename key={name} id={id} name={name} />}
      <div className={styles.acts}>
        <Out id={id} name={name} way="leave" />
        {isOwner && <Out id={id} name={name} way="close" />}
      </div>
    </section>
  )
}

function Rename({ id, name }: AffairsProps) {
  const { t } = useTranslation()
  const queryClient = useQueryClient()
  const form = useForm({
    initialValues: { name },
    validate: { name: (text) => (text.trim() === '' ? t('organisation.nameWanted') : null) },
  })
  const { submit, isPending, problem } = useSubmit(form, {
    send: ({ name: next }) => renameOrganisation(id, next.trim()),
    onDone: () => inBackground(queryClient.invalidateQueries({ queryKey: organisationsQuery.queryKey })),
  })
  return (
    <form noValidate className={styles.rename} onSubmit={submit}>
      <TextInput label={t('organisation.name')} {...form.getInputProps('name')} />
      <Button type="submit" variant="default" loading={isPending} disabled={!form.isDirty()}>
        {t('save')}
      </Button>
      <FormProblem text={problem} />
    </form>
  )
}

/** Leaving the organisation, or closing it for everybody. */
function Out({ id, name, way }: AffairsProps & { readonly way: 'leave' | 'close' }) {
  const { t } = useTranslation()
  const router = useRouter()
  const [asking, setAsking] = useState(false)
  return (
    <>
      <Button variant="default" onClick={() => setAsking(true)}>
        {t(`organisation.ways.${way}`)}
      </Button>
      {asking && (
        <Confirm
          title={t(`organisation.wayTitles.${way}`)}
          action={t(`organisation.ways.${way}`)}
          onConfirm={async () => {
            await (way === 'leave' ? leaveOrganisation(id) : closeOrganisation(id))
            // A full reload, so that no data of the organisation is left.
            window.location.assign(`${router.basepath}/organisation`)
          }}
          onClose={() => setAsking(false)}
        >
          <Marked text={t(`organisation.wayTexts.${way}`, { name })} />
        </Confirm>
      )}
    </>
  )
}
