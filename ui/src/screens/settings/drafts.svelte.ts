import type { SourceView } from '../../setup/types';
import { fieldsOf, realEdits, type Edits, type SourceFields } from './source-form';
import { problemsOf, type Problems } from './source-problems';

/** What was typed and not saved, by source. It outlives its page, so that looking elsewhere loses nothing. */
class Drafts {
  #edits = $state<Record<string, Edits>>({});
  #refused = $state<Record<string, Problems>>({});

  constructor() {
    if (typeof window === 'undefined') return;
    window.addEventListener('beforeunload', (event) => {
      if (Object.keys(this.#edits).length > 0) event.preventDefault();
    });
  }

  /** The edits of a source that differ from what is kept. */
  of(source: SourceView): Edits {
    return realEdits(fieldsOf(source), this.#edits[source.slug] ?? {});
  }

  /** The fields of a source, with its edits. */
  fields(source: SourceView): SourceFields {
    return { ...fieldsOf(source), ...this.of(source) };
  }

  /** Whether something of it is not saved. */
  has(source: SourceView): boolean {
    return Object.keys(this.of(source)).length > 0;
  }

  /** What is wrong with them, as it seems here or as the engine said. */
  problems(source: SourceView): Problems {
    return { ...problemsOf(this.fields(source)), ...this.#refused[source.slug] };
  }

  /** Whether the field itself says what is wrong with it: not before somebody was there. */
  shows(source: SourceView, name: keyof SourceFields): boolean {
    return name in this.of(source) || name in (this.#refused[source.slug] ?? {});
  }

  /** Remembers what the engine said of a field, until something is edited. */
  refuse(slug: string, name: keyof SourceFields, says: string): void {
    this.#refused[slug] = { [name]: says };
  }

  /** Takes several fields at once. */
  editAll(source: SourceView, all: Edits): void {
    delete this.#refused[source.slug];
    const edits = realEdits(fieldsOf(source), { ...this.#edits[source.slug], ...all });
    if (Object.keys(edits).length > 0) this.#edits[source.slug] = edits;
    else this.drop(source.slug);
  }

  /** Takes what was typed into one field. */
  edit<N extends keyof SourceFields>(source: SourceView, name: N, value: SourceFields[N]): void {
    this.editAll(source, { [name]: value });
  }

  /** Forgets them. */
  drop(slug: string): void {
    delete this.#edits[slug];
    delete this.#refused[slug];
  }
}

export const drafts = new Drafts();
