/** Pictures from the clipboard as chips. */
import type { Chip } from "../../shared/messages";

const KINDS = ["image/png", "image/jpeg", "image/gif", "image/webp"];
const LIMIT = 10 * 1024 * 1024;

let numbers = 0;

export function picturesOf(data: DataTransfer | null): File[] {
  return [...(data?.files ?? [])].filter((file) => file.type.startsWith("image/"));
}

/** A chip of a picture; throws with words for the person if it cannot be sent. */
export async function pictureChip(file: File): Promise<Chip> {
  if (!KINDS.includes(file.type)) throw new Error(`Pictures of the kind ${file.type} cannot be sent. Use PNG, JPEG, GIF or WebP.`);
  if (file.size > LIMIT) throw new Error(`The picture has ${(file.size / 1024 / 1024).toFixed(0)} MB; at most 10 can be sent.`);
  const data = await base64(file);
  const label = `Image ${++numbers}`;
  return { label, title: `${file.type.slice(6).toUpperCase()}, ${Math.ceil(file.size / 1024)} KB`, part: { type: "image", data, mimeType: file.type } };
}

function base64(file: File): Promise<string> {
  return new Promise((done, failed) => {
    const reader = new FileReader();
    reader.onload = () => { done(typeof reader.result === "string" ? reader.result.replace(/^[^,]*,/, "") : ""); };
    reader.onerror = () => { failed(new Error("The picture could not be read.")); };
    reader.readAsDataURL(file);
  });
}
