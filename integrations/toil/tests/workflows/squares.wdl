version 1.1
workflow squares {
  input { Array[Int] numbers }
  scatter (number in numbers) { Int square = number * number }
  output { Array[Int] squares = square }
}
