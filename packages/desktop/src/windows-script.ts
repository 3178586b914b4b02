/**
 * The script that drives a Windows desktop. It never changes: requests arrive as JSON on its input, so that nothing
 * from a caller is ever part of a script or of an argument list. The answer is JSON in Base64, because the encoding of
 * a console depends on the machine.
 */
export const WINDOWS_SCRIPT = `
$ErrorActionPreference = 'Stop'
$ProgressPreference = 'SilentlyContinue'
try {
  Add-Type -AssemblyName System.Drawing
  Add-Type -TypeDefinition @'
using System;
using System.Collections.Generic;
using System.Runtime.InteropServices;
using System.Text;

public static class OctantScreen {
  [StructLayout(LayoutKind.Sequential)]
  struct MouseInput { public int X; public int Y; public uint Data; public uint Flags; public uint Time; public IntPtr Extra; }
  [StructLayout(LayoutKind.Sequential)]
  struct KeyInput { public ushort Key; public ushort Scan; public uint Flags; public uint Time; public IntPtr Extra; }
  [StructLayout(LayoutKind.Explicit)]
  struct Either { [FieldOffset(0)] public MouseInput Mouse; [FieldOffset(0)] public KeyInput Key; }
  [StructLayout(LayoutKind.Sequential)]
  struct Input { public uint Type; public Either Either; }
  [StructLayout(LayoutKind.Sequential)]
  struct Rect { public int Left; public int Top; public int Right; public int Bottom; }
  delegate bool Visit(IntPtr window, IntPtr unused);

  [DllImport("user32.dll")] static extern IntPtr SetThreadDpiAwarenessContext(IntPtr context);
  [DllImport("user32.dll")] static extern int GetSystemMetrics(int index);
  [DllImport("user32.dll", SetLastError = true)] static extern uint SendInput(uint count, Input[] inputs, int size);
  [DllImport("user32.dll", CharSet = CharSet.Unicode)] static extern short VkKeyScanW(char character);
  [DllImport("user32.dll")] static extern bool EnumWindows(Visit visit, IntPtr unused);
  [DllImport("user32.dll")] static extern bool IsWindowVisible(IntPtr window);
  [DllImport("user32.dll")] static extern bool IsIconic(IntPtr window);
  [DllImport("user32.dll")] static extern bool ShowWindow(IntPtr window, int command);
  [DllImport("user32.dll")] static extern bool SetForegroundWindow(IntPtr window);
  [DllImport("user32.dll")] static extern IntPtr GetForegroundWindow();
  [DllImport("user32.dll")] static extern bool GetWindowRect(IntPtr window, out Rect rect);
  [DllImport("user32.dll")] static extern uint GetWindowThreadProcessId(IntPtr window, out uint pid);
  [DllImport("user32.dll", CharSet = CharSet.Unicode)] static extern int GetWindowTextW(IntPtr window, StringBuilder text, int max);
  [DllImport("dwmapi.dll")] static extern int DwmGetWindowAttribute(IntPtr window, int attribute, out int value, int size);

  /** Physical pixels, whatever the scale of the display. */
  public static void UsePixels() { SetThreadDpiAwarenessContext(new IntPtr(-4)); }
  public static int Width() { return GetSystemMetrics(0); }
  public static int Height() { return GetSystemMetrics(1); }

  public static void Move(int x, int y) {
    var mouse = new MouseInput { X = Scale(x, Width()), Y = Scale(y, Height()), Flags = 0x8001 };
    Send(new Input { Type = 0, Either = new Either { Mouse = mouse } });
  }
  static int Scale(int pixel, int size) { return (int)(((long)pixel * 65536 + 32768) / size); }
  public static void Mouse(int flags, int data) {
    var mouse = new MouseInput { Flags = (uint)flags, Data = unchecked((uint)data) };
    Send(new Input { Type = 0, Either = new Either { Mouse = mouse } });
  }
  public static void Key(int key, int flags) {
    Send(new Input { Type = 1, Either = new Either { Key = new KeyInput { Key = (ushort)key, Flags = (uint)flags } } });
  }
  public static void Unit(int unit, int flags) {
    var key = new KeyInput { Scan = (ushort)unit, Flags = (uint)flags | 4 };
    Send(new Input { Type = 1, Either = new Either { Key = key } });
  }
  /** The key that has the character on this keyboard; without one, the character itself. */
  public static void KeyOf(int unit, int flags) {
    int key = VkKeyScanW((char)unit);
    if (key == -1) Unit(unit, flags); else Key(key & 255, flags);
  }
  static void Send(Input input) {
    if (SendInput(1, new[] { input }, Marshal.SizeOf(typeof(Input))) == 1) return;
    throw new Exception("Windows refused the input; is the screen locked, or the window an administrator's?");
  }

  public static List<object[]> Windows() {
    var found = new List<object[]>();
    EnumWindows(delegate(IntPtr window, IntPtr unused) {
      var title = new StringBuilder(512);
      int cloaked;
      Rect rect;
      uint pid;
      if (!IsWindowVisible(window) || GetWindowTextW(window, title, title.Capacity) == 0) return true;
      if (DwmGetWindowAttribute(window, 14, out cloaked, 4) == 0 && cloaked != 0) return true;
      GetWindowRect(window, out rect);
      GetWindowThreadProcessId(window, out pid);
      found.Add(new object[] {
        window.ToInt64().ToString(), title.ToString(), pid, rect.Left, rect.Top,
        rect.Right - rect.Left, rect.Bottom - rect.Top, window == GetForegroundWindow()
      });
      return true;
    }, IntPtr.Zero);
    return found;
  }
  public static bool Activate(string id) {
    var window = new IntPtr(long.Parse(id));
    if (IsIconic(window)) ShowWindow(window, 9);
    // Windows lets only the program with the latest input give the focus away.
    Key(18, 0); Key(18, 2);
    SetForegroundWindow(window);
    for (int i = 0; i < 30 && GetForegroundWindow() != window; i++) System.Threading.Thread.Sleep(100);
    return GetForegroundWindow() == window;
  }
}
'@
  [OctantScreen]::UsePixels()
  $width = [OctantScreen]::Width()
  $height = [OctantScreen]::Height()
  $request = [Console]::In.ReadToEnd() | ConvertFrom-Json
  $answer = @{ width = $width; height = $height }
  switch ($request.op) {
    'input' {
      foreach ($one in $request.events) {
        if ($one[0] -ne 'move') { continue }
        $isInside = $one[1] -ge 0 -and $one[2] -ge 0 -and $one[1] -lt $width -and $one[2] -lt $height
        if (-not $isInside) { $answer.outside = @($one[1], $one[2]) }
      }
      foreach ($one in $request.events) {
        if ($answer.outside) { continue }
        switch ($one[0]) {
          'move' { [OctantScreen]::Move($one[1], $one[2]) }
          'mouse' { [OctantScreen]::Mouse($one[1], $one[2]) }
          'key' { [OctantScreen]::Key($one[1], $one[2]) }
          'unit' { [OctantScreen]::Unit($one[1], $one[2]) }
          'keyof' { [OctantScreen]::KeyOf($one[1], $one[2]) }
          'pause' { Start-Sleep -Milliseconds $one[1] }
        }
      }
    }
    'windows' { $answer.windows = [OctantScreen]::Windows() }
    'activate' { $answer.active = [OctantScreen]::Activate($request.id) }
    'picture' {
      $bitmap = New-Object System.Drawing.Bitmap ([int]$request.width), ([int]$request.height)
      $graphics = [System.Drawing.Graphics]::FromImage($bitmap)
      $graphics.CopyFromScreen([int]$request.x, [int]$request.y, 0, 0, $bitmap.Size)
      $stream = New-Object System.IO.MemoryStream
      $bitmap.Save($stream, [System.Drawing.Imaging.ImageFormat]::Png)
      $answer.png = [Convert]::ToBase64String($stream.ToArray())
    }
  }
  $json = $answer | ConvertTo-Json -Compress -Depth 5
  [Console]::Out.Write([Convert]::ToBase64String([System.Text.Encoding]::UTF8.GetBytes($json)))
} catch {
  [Console]::Error.WriteLine($_.Exception.Message)
  exit 1
}
`;
