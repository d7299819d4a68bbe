//! Embeds the built UI, the icons and the capabilities. Runs in the repository's root.

fn main() {
    // The build needs the folder, even if it is empty; the window then shows how to build the UI.
    std::fs::create_dir_all("ui/dist").expect("ui/dist can be made");
    println!("cargo:rerun-if-changed=ui/dist");
    println!("cargo:rerun-if-changed=src-tauri/capabilities");
    let attributes =
        tauri_build::Attributes::new().capabilities_path_pattern("./src-tauri/capabilities/**/*");
    tauri_build::try_build(attributes).expect("tauri.conf.json and the capabilities fit together");
    // Removes the schemas that tauri-build writes for editors. The build itself reads those in OUT_DIR.
    let _absent = std::fs::remove_dir_all("gen");
}
